import { inject } from 'vitest'
import { PROCESS_ENVIRONMENT } from './environment.ts'
import { compiledIn, type Program, programIn } from './programs.ts'

/** A program as built for this run: its file, and the environment in which it starts fast. */
export function builtProgram(program: Program) {
  const folder = inject('programs')
  return {
    path: programIn(folder, program),
    env: { ...PROCESS_ENVIRONMENT, NODE_COMPILE_CACHE: compiledIn(folder) },
  }
}
