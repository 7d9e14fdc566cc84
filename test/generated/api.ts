/** The types of the API for tests: those of the client. */
export * from '../../clients/typescript/src/generated/models.ts'
