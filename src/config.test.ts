import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ConfigError, loadConfig } from './config.ts'

const complete = {
  PUBLIC_URL: 'https://watchdog.example.org/',
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  FLARE_RPC_URLS: 'http://127.0.0.1:9650/ext/bc/C/rpc, https://rpc.example.org/',
  TERMS_VERSION: '2026-11',
  TERMS_URL: 'https://watchdog.example.org/terms',
}

/** Variables that are needed together with others. */
const pairs = {
  SMTP_URL: 'smtp://127.0.0.1',
  EMAIL_FROM: 'Watchdog <alerts@example.org>',
  P_CHAIN_RPC_URL: 'http://127.0.0.1:9650',
}

/** Names of the variables in `.env.example`. */
function documented(): readonly string[] {
  const example = readFileSync(new URL('../.env.example', import.meta.url), 'utf8')
  return [...example.matchAll(/^([A-Z_]+)=/gm)].flatMap(([, name]) => name ?? [])
}

function problemsOf(environment: Record<string, string | undefined>): readonly string[] {
  try {
    loadConfig(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

describe('the configuration', () => {
  test('has its defaults', () => {
    const config = loadConfig(complete)
    expect(config.publicUrl).toBe('https://watchdog.example.org')
    expect(config.chain.rpcUrls).toHaveLength(2)
    expect(config).toMatchObject({
      roles: ['api', 'bot', 'watcher', 'delivery'],
      http: { host: '127.0.0.1', port: 8080, internalPort: 9090, trustProxy: 0 },
      chain: { id: 14, confirmations: 2, evaluationIntervalMs: 2000 },
      telegram: { apiRoot: 'https://api.telegram.org' },
      webhook: { allowPrivate: false },
    })
  })

  const key = `0x${'7a'.repeat(32)}`
  const payTo = '0x00000000000000000000000000000000000f1a03'

  test('takes payments with calls by its own account or by a facilitator', () => {
    const own = loadConfig({ ...complete, NATIVE_PAY_TO: payTo, X402_SETTLEMENT_KEY: key })
    expect(own.x402).toEqual({ settlementKey: key, facilitatorUrl: undefined })
    const url = 'https://facilitator.example.org/x402'
    const other = loadConfig({ ...complete, NATIVE_PAY_TO: payTo, X402_FACILITATOR_URL: url })
    expect(other.x402).toEqual({ settlementKey: undefined, facilitatorUrl: url })
  })

  test.each([
    [{ X402_SETTLEMENT_KEY: key }, 'NATIVE_PAY_TO is missing (required with X402_SETTLEMENT_KEY)'],
    [
      { X402_SETTLEMENT_KEY: key, NATIVE_PAY_TO: payTo, X402_FACILITATOR_URL: 'https://a.example' },
      'X402_SETTLEMENT_KEY and X402_FACILITATOR_URL are set: set one of them',
    ],
    [
      { X402_SETTLEMENT_KEY: key, NATIVE_PAY_TO: payTo, CHAIN_ID: '19' },
      'X402_SETTLEMENT_KEY needs CHAIN_ID 14: chain 19 has no USD₮0',
    ],
    [
      { X402_SETTLEMENT_KEY: `0x${'0'.repeat(64)}`, NATIVE_PAY_TO: payTo },
      'X402_SETTLEMENT_KEY is wrong: a private key of 0x and 64 hex digits',
    ],
  ])('refuses payments with calls that cannot work: %j', (over, problem) => {
    expect(problemsOf({ ...complete, ...over })).toEqual([problem])
  })

  test.each([
    'http://example.org',
    'help@example.org',
    'mailto:help',
    'mailto:a@b.org?bcc=c@d.org',
    'mailto:a@b.org,c@d.org',
    'https://user:password@example.org',
    'javascript:alert(1)',
    'https://',
  ])('refuses %s as the address of the operator', (wrong) => {
    expect(problemsOf({ ...complete, SUPPORT_URL: wrong })).toEqual([
      'SUPPORT_URL is wrong: an https URL without credentials, or mailto: and one address',
    ])
  })

  test.each([
    'https://example.org/help?topic=1',
    'mailto:help.desk+x@example.org',
  ])('takes %s as the address of the operator', (url) => {
    expect(loadConfig({ ...complete, SUPPORT_URL: url }).supportUrl).toBe(url)
  })

  test('has the WebSocket of each endpoint that has one, with its headers', () => {
    const sockets = (urls: string, headers = '[]') =>
      loadConfig({ ...complete, FLARE_WS_URLS: urls, FLARE_RPC_HEADERS: headers }).chain.sockets
    expect(loadConfig(complete).chain.sockets).toEqual([])
    expect(sockets(',wss://two.example/ws?k=1', '[null,{"x-api-key":"a"}]')).toEqual([
      { endpoint: 1, url: 'wss://two.example/ws?k=1', headers: { 'x-api-key': 'a' } },
    ])
    for (const wrong of ['https://one.example', 'wss://one.example/ws#key']) {
      expect(problemsOf({ ...complete, FLARE_WS_URLS: wrong })).toEqual([
        'FLARE_WS_URLS is wrong: a ws or wss URL, or nothing',
      ])
    }
    expect(problemsOf({ ...complete, FLARE_WS_URLS: 'ws://a,ws://b,ws://c' })).toEqual([
      'FLARE_WS_URLS has 3 entries for 2 FLARE_RPC_URLS',
    ])
  })

  test('names every missing variable, one a line', () => {
    expect(problemsOf({})).toEqual([
      'PUBLIC_URL is missing',
      'SECRET_KEY is missing',
      'FLARE_RPC_URLS is missing',
      'TERMS_VERSION is missing (required while BILLING_ENABLED is true)',
      'TERMS_URL is missing (required while BILLING_ENABLED is true)',
    ])
  })

  test('knows where reward epochs are published, if configured', () => {
    expect(loadConfig(complete).published).toEqual({ datasetUrl: undefined, rewardDataUrls: [] })
    const named = {
      ...complete,
      PROVIDER_DATASET_URL: 'https://data.example.org/flare/{epoch}/passes.json',
      REWARD_DATA_URLS: 'https://one.example.org/flare/, https://two.example.org/{epoch}.json',
    }
    expect(loadConfig(named).published).toEqual({
      datasetUrl: 'https://data.example.org/flare/{epoch}/passes.json',
      rewardDataUrls: ['https://one.example.org/flare', 'https://two.example.org/{epoch}.json'],
    })
    const everyEpoch = { ...complete, PROVIDER_DATASET_URL: 'https://data.example.org/passes.json' }
    expect(problemsOf(everyEpoch)).toEqual([
      'PROVIDER_DATASET_URL is wrong: a URL with {epoch} in it',
    ])
  })

  test('takes one database server or several', () => {
    for (const hosts of [
      'one',
      'one:5432',
      'one:5432,two:5433',
      'one,two,three',
      '%2Frun%2Fpg:5432',
    ]) {
      const url = `postgres://user:word@${hosts}/watchdog?sslmode=require`
      expect(loadConfig({ ...complete, DATABASE_URL: url }).database.url).toBe(url)
    }
  })

  test('keeps the key in the query of an endpoint, with slashes at its end', () => {
    const urls =
      'https://one.example/?key=ab/,https://two.example/ab/?key=c//,https://three.example/x//'
    expect(loadConfig({ ...complete, FLARE_RPC_URLS: urls }).chain.rpcUrls).toEqual([
      'https://one.example/?key=ab/',
      'https://two.example/ab/?key=c//',
      'https://three.example/x',
    ])
  })

  test('has the address and the headers of the P-chain', () => {
    const named = {
      ...complete,
      P_CHAIN_RPC_URL: 'https://node.example/ext/bc/P?x-apikey=K',
      P_CHAIN_RPC_HEADERS: '{"x-api-key":"geheim-4711"}',
    }
    expect(loadConfig(complete).pChain).toEqual({ rpcUrl: undefined, headers: {} })
    expect(loadConfig(named).pChain).toEqual({
      rpcUrl: 'https://node.example/ext/bc/P?x-apikey=K',
      headers: { 'x-api-key': 'geheim-4711' },
    })
    expect(problemsOf({ ...named, P_CHAIN_RPC_URL: undefined })).toEqual([
      'P_CHAIN_RPC_URL is missing (required with P_CHAIN_RPC_HEADERS)',
    ])
  })

  test('names variables that begin like its own and are unknown', () => {
    const misspelt = {
      FLARE_RPC_HEADER: '[]',
      TELEGRAM_TOKEN: 'x',
      HOME: '/',
      POSTGRES_PASSWORD: 'x',
    }
    const unknown = [
      'FLARE_RPC_HEADER is unknown; did you mean FLARE_RPC_HEADERS?',
      'TELEGRAM_TOKEN is unknown; did you mean TELEGRAM_BOT_TOKEN?',
    ]
    expect(loadConfig({ ...complete, ...misspelt }).unknownVariables).toEqual(unknown)
    expect(loadConfig({ ...complete, FLARE_RPC_HEADER: '' }).unknownVariables).toEqual([])
    const { FLARE_RPC_URLS, ...others } = complete
    expect(problemsOf({ ...others, FLARE_RPC_URL: FLARE_RPC_URLS })).toEqual([
      'FLARE_RPC_URLS is missing',
      'FLARE_RPC_URL is unknown; did you mean FLARE_RPC_URLS?',
    ])
  })

  test('has one line for a variable that is wrong in several ways', () => {
    expect(problemsOf({ ...complete, SECRET_KEY: '?' })).toEqual([
      expect.stringMatching(/^SECRET_KEY is wrong: /),
    ])
    expect(problemsOf({ ...complete, FLARE_RPC_URLS: 'one,two' })).toHaveLength(1)
  })

  test('counts an empty variable as unset', () => {
    expect(problemsOf({ ...complete, SECRET_KEY: '' })).toEqual(['SECRET_KEY is missing'])
  })

  test.each([
    ['PUBLIC_URL', 'ftp://example.org'],
    ['PUBLIC_URL', 'https://example.org/path'],
    ['PUBLIC_URL', 'https://example.org/path?x=1'],
    ['PUBLIC_URL', 'https://example.org/?x=1'],
    ['PUBLIC_URL', 'https://example.org/#top'],
    ['PUBLIC_URL', 'https://user:geheim-4711@example.org'],
    ['PUBLIC_URL', 'https://wätchdog.example.org'],
    ['PUBLIC_URL', `https://${'long.'.repeat(40)}example.org`],
    ['EMAIL_FROM', 'abc'],
    ['EMAIL_FROM', 'Watchdog <abc>'],
    ['EMAIL_FROM', 'a@example.org, b@example.org'],
    ['P_CHAIN_RPC_URL', 'https://user:geheim-4711@example.org'],
    ['P_CHAIN_RPC_URL', 'https://example.org/ext/bc/C/rpc'],
    ['P_CHAIN_RPC_HEADERS', '[{"x-api-key":"geheim-4711"}]'],
    ['P_CHAIN_RPC_HEADERS', 'x-api-key: geheim-4711'],
    ['P_CHAIN_RPC_HEADERS', '{"x-api-key":"geheim\\r\\n4711"}'],
    ['SECRET_KEY', 'c2hvcnQ='],
    ['PORT', '99999'],
    ['PORT', '\t'],
    ['PORT', '0x1F90'],
    ['ROLES', 'api,cook'],
    ['TELEGRAM_BOT_TOKEN', 'nonsense'],
    ['DATABASE_URL', 'mysql://example.org'],
    ['DATABASE_URL', 'postgres://user@one:5432,/watchdog'],
    ['EVALUATION_INTERVAL_MS', '1.5'],
    ['CONFIRMATIONS', '-7'],
    ['BILLING_ENABLED', 'yes'],
    ['TRUST_PROXY', 'banana'],
    ['TRUST_PROXY', '10.0.0.0/40'],
    ['TRUST_PROXY', '10.1'],
    ['TRUST_PROXY', '0x0a000000/8'],
    ['TRUST_PROXY', 'fd00::/129'],
    ['TRUST_PROXY', 'fe80::1%br-lan'],
    ['CHAIN_ID', '137'],
    ['CHAIN_ID', 'flare'],
    ['FLARE_RPC_HEADERS', 'x-api-key: geheim-4711'],
    ['FLARE_RPC_HEADERS', '{"x-api-key":"geheim-4711"}'],
    ['FLARE_RPC_HEADERS', '[{"x-api-key":"geheim\\r\\n4711"}]'],
    ['FLARE_RPC_HEADERS', '[{"x api key":"geheim-4711"}]'],
    ['FLARE_RPC_TIMEOUT_MS', '5s'],
    ['FLARE_RPC_TIMEOUT_MS', '7'],
    ['METERED_UPSTREAMS', 'ftso-analytics=http://127.0.0.1:9100'],
    ['METERED_UPSTREAMS', '["http://127.0.0.1:9100"]'],
    ['METERED_UPSTREAMS', '{"weather":"http://127.0.0.1:9100"}'],
    ['METERED_UPSTREAMS', '{"ftso-analytics":"ftp://127.0.0.1"}'],
    ['METERED_UPSTREAMS', '{"ftso-analytics":"http://127.0.0.1/?key=1"}'],
    ['METERED_UPSTREAMS', '{"ftso-analytics":"http://user:secret@127.0.0.1"}'],
  ])('refuses %s=%s by name, and never repeats the value', (name, value) => {
    const problems = problemsOf({ ...complete, ...pairs, [name]: value })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(new RegExp(`^${name} is wrong: `))
    expect(problems[0]).not.toContain(value)
  })

  test('has headers and time-outs of endpoints by their position, and none without an endpoint', () => {
    const environment = {
      ...complete,
      FLARE_RPC_URLS: 'https://one.example.org,https://two.example.org',
      FLARE_RPC_HEADERS: '[null,{"x-api-key":"geheim-4711"}]',
      FLARE_RPC_TIMEOUT_MS: ',12000',
    }
    expect(loadConfig(environment).chain).toMatchObject({
      rpcHeaders: [{}, { 'x-api-key': 'geheim-4711' }],
      rpcTimeoutsMs: [undefined, 12_000],
    })
    expect(problemsOf({ ...environment, FLARE_RPC_URLS: 'https://one.example.org' })).toEqual([
      'FLARE_RPC_HEADERS has 2 entries for 1 FLARE_RPC_URLS',
      'FLARE_RPC_TIMEOUT_MS has 2 entries for 1 FLARE_RPC_URLS',
    ])
  })

  test('takes the name of the chain from its id', () => {
    expect(loadConfig(complete).chain).toMatchObject({ id: 14, name: 'flare' })
    expect(loadConfig({ ...complete, CHAIN_ID: '19' }).chain).toMatchObject({ name: 'songbird' })
  })

  test('has the upstreams of metered resources, as far as they are named', () => {
    const METERED_UPSTREAMS = '{"ftso-analytics":"http://127.0.0.1:9100/api/"}'
    const upstreams = { 'ftso-analytics': 'http://127.0.0.1:9100/api' }
    expect(loadConfig({ ...complete, METERED_UPSTREAMS }).http.upstreams).toEqual(upstreams)
    expect(loadConfig(complete).http.upstreams).toEqual({})
  })

  describe('of ways to pay', () => {
    const ROUTER = '0x00000000000000000000000000000000000f1a00'
    const TOKEN = '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C'
    const DEPOSIT = 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'

    test('names nothing: all of them are off', () => {
      expect(loadConfig(complete).billing.payments).toEqual({
        router: undefined,
        nativePayTo: undefined,
        tokens: { service: undefined, WFLR: undefined, FXRP: undefined },
        serviceTokenUsdMicros: undefined,
        xrpDepositAddress: undefined,
      })
    })

    test('reads addresses in any case and keeps them with their checksum', () => {
      const over = { PAYMENT_ROUTER: ROUTER, WFLR_ADDRESS: TOKEN.toLowerCase() }
      const { payments } = loadConfig({ ...complete, ...over }).billing
      expect(payments.tokens.WFLR).toBe(TOKEN)
    })

    test.each([
      ['PAYMENT_ROUTER', { PAYMENT_ROUTER: ROUTER }],
      ['SERVICE_TOKEN_USD_MICROS', { PAYMENT_ROUTER: ROUTER, SERVICE_TOKEN_ADDRESS: TOKEN }],
      ['SERVICE_TOKEN_ADDRESS', { SERVICE_TOKEN_USD_MICROS: '5' }],
      ['XRPL_DEPOSIT_ADDRESS', { XRPL_RPC_URL: 'https://xrpl.example.org' }],
      ['XRPL_RPC_URL', { XRPL_DEPOSIT_ADDRESS: DEPOSIT }],
      [
        'SERVICE_TOKEN_ADDRESS',
        { PAYMENT_ROUTER: ROUTER, WFLR_ADDRESS: TOKEN, FXRP_ADDRESS: TOKEN },
      ],
    ])('says by %s what is missing to one that was begun', (name, over) => {
      const problems = problemsOf({ ...complete, ...over })
      expect(problems).toHaveLength(1)
      expect(problems[0]).toMatch(new RegExp(`^${name}\\b`))
    })

    test.each([
      ['PAYMENT_ROUTER', '0x3F12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c'],
      ['NATIVE_PAY_TO', '0x3f12'],
      ['SERVICE_TOKEN_USD_MICROS', '0'],
      ['SERVICE_TOKEN_USD_MICROS', '0.5'],
      ['SERVICE_TOKEN_SYMBOL', 'FXRP'],
      ['XRPL_DEPOSIT_ADDRESS', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTi'],
      ['XRPL_RPC_URL', 'wss://xrpl.example.org'],
    ])('refuses %s=%s by name', (name, value) => {
      const problems = problemsOf({ ...complete, [name]: value })
      expect(problems[0]).toMatch(new RegExp(`^${name} is wrong: `))
    })
  })

  test.each([
    ['2', 2],
    ['127.0.0.1, 10.0.0.0/8,2001:db8::/32', ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32']],
  ])('trusts the proxies of %s', (value, trusted) => {
    const config = loadConfig({ ...complete, TRUST_PROXY: value })
    expect(config.http.trustProxy).toEqual(trusted)
  })

  test.each([
    [{}, 256],
    [{ CONNECTIONS_PER_ADDRESS: '12' }, 12],
    [{ CONNECTIONS_PER_ADDRESS: '0' }, undefined],
    // Behind a proxy all connections have its address.
    [{ TRUST_PROXY: '1' }, undefined],
    [{ TRUST_PROXY: '1', CONNECTIONS_PER_ADDRESS: '4000' }, 4000],
  ])('with %o one address may have so many connections: %s', (environment, most) => {
    expect(loadConfig({ ...complete, ...environment }).http.connectionsPerAddress).toBe(most)
  })

  test('refuses a mail server without a sender', () => {
    expect(problemsOf({ ...complete, SMTP_URL: 'smtp://mail.example.org' })).toEqual([
      'EMAIL_FROM is missing (required with SMTP_URL)',
    ])
  })

  test('needs no terms while billing is off', () => {
    const { TERMS_URL: _url, TERMS_VERSION: _version, ...rest } = complete
    expect(problemsOf({ ...rest, BILLING_ENABLED: 'false' })).toEqual([])
  })

  test('says what is wrong in words, without names of the code', () => {
    const names = documented()
    const wrong = names.flatMap((name) => problemsOf({ ...complete, [name]: '?\u0000' }))
    expect(wrong.length).toBeGreaterThan(15)
    expect(wrong.filter((problem) => /\b[a-z]+[A-Z]|NaN/.test(problem))).toEqual([])
    expect(problemsOf({ ...complete, PORT: 'x' })).toEqual([
      'PORT is wrong: a whole number from 0 to 65535',
    ])
  })

  test('knows every variable of .env.example, and no other', () => {
    const source = readFileSync(new URL('./config.ts', import.meta.url), 'utf8')
    const known = [...source.matchAll(/^ {2}([A-Z_]+): /gm)].map(([, name]) => name)
    // The client of the database reads its password itself.
    expect(documented().toSorted()).toEqual([...known, 'PGPASSWORD'].toSorted())
  })
})
