import { inject } from 'vitest'
import { compileCacheOf, type Program, programPath } from './build-programs.ts'
import { PROCESS_ENVIRONMENT } from './environment.ts'

/** Path of a program that was built for this test run, and the environment to start it with: it names the compile cache. */
export function builtProgram(program: Program) {
  const folder = inject('programs')
  return {
    path: programPath(folder, program),
    env: { ...PROCESS_ENVIRONMENT, NODE_COMPILE_CACHE: compileCacheOf(folder) },
  }
}
