/** Environment of every service process of tests, for a fast start. */
export const PROCESS_ENVIRONMENT = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  NODE_OPTIONS: process.env['NODE_OPTIONS'],
}

/** Environment of a service in a test, without real secrets. */
export function testEnvironment(over: Readonly<Record<string, string>> = {}) {
  const environment = {
    PUBLIC_URL: 'http://127.0.0.1:8080',
    PORT: '0',
    INTERNAL_PORT: '0',
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    FLARE_RPC_URLS: 'http://127.0.0.1:1',
    TERMS_VERSION: '2026-11',
    TERMS_URL: 'https://watchdog.example.org/terms',
    LOG_LEVEL: 'silent',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    ...over,
  }
  // The chain of a test takes any number of requests.
  const perMinute = environment.FLARE_RPC_URLS.split(',').map(() => '60000')
  return { FLARE_RPC_PER_MINUTE: perMinute.join(), ...environment }
}
