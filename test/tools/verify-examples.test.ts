import { join } from 'node:path'
import { beforeAll, describe } from 'vitest'
import { FOLDER, type Verifier, verifierTests } from '../channels/verifiers.ts'
import { needPrograms } from './needed.ts'

const VERIFIERS: readonly (Verifier & { readonly name: string; readonly program: string })[] = [
  { name: 'python.py', program: 'python3', run: () => ['python3', join(FOLDER, 'python.py')] },
  {
    name: 'go/main.go',
    program: 'go',
    build: (into) => ['go', ['build', '-o', join(into, 'verify-go'), join(FOLDER, 'go/main.go')]],
    run: (into) => [join(into, 'verify-go')],
  },
  { name: 'verify.sh', program: 'openssl', run: () => ['sh', join(FOLDER, 'verify.sh')] },
]

describe.each(VERIFIERS)('$name', (verifier) => {
  beforeAll(() => needPrograms(verifier.program))
  verifierTests(verifier)
})
