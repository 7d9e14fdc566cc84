import { createApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { deliverByOne, deliverDue } from '#src/jobs/deliver-due.ts'
import { startJobs } from '#src/jobs/runner.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { testEnvironment } from '../support/environment.ts'

/**
 * The service's delivery worker, as its job runs it. Run as a process of its own:
 * `delivery-subject.ts <database url>`.
 */
const config = loadConfig(testEnvironment())
const { app, sql } = createApp(config, { databaseUrl: process.argv[2] ?? '', log: silentLogger })
await startJobs(app, sql, [deliverDue, deliverByOne])
process.stdout.write('at work\n')
