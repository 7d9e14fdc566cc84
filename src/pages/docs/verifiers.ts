/** The page about webhooks: its path, the steps to verify one, and the programs that do. */

export const WEBHOOKS_PATH = '/docs/webhooks'

/** Steps of a verifier, in their order. */
export const VERIFY_STEPS = ['raw', 'time', 'compute', 'compare', 'once'] as const

/** Verifiers of webhooks by language, in `examples/verify`; tests run them with the published vector. */
export const VERIFIERS = [
  { name: 'TypeScript', file: 'typescript.ts' },
  { name: 'Python', file: 'python.py' },
  { name: 'Go', file: 'go/main.go' },
  { name: 'Shell', file: 'verify.sh' },
] as const
