/** Runs the doctor: everything that a configuration points to is asked, side by side. */
import { totalmem } from 'node:os'
import type { Config } from '#src/config.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { examineDatabase } from './database.ts'
import { examineDirectPayments } from './direct-payments.ts'
import { examineEndpoints } from './endpoints.ts'
import { findOff } from './features.ts'
import type { Finding } from './finding.ts'
import { examineMail, examinePublicUrl, examineTelegram, judgeMemory } from './outside.ts'
import { examinePayments } from './payments.ts'

/** The quick part, which a start runs beside its work: what is off, the endpoints, the router. Never rejects. */
export async function examineQuickly(config: Config, clock: Clock): Promise<readonly Finding[]> {
  const found = await Promise.all([
    examineEndpoints(config, { clock, isQuick: true }),
    examinePayments(config),
    examineDirectPayments(config),
  ])
  return [...findOff(config), ...found.flat()]
}

/** Everything. @param databaseUrl of the database that the service uses */
export async function examine(
  config: Config,
  of: { readonly clock: Clock; readonly databaseUrl: string; readonly migrations: string },
): Promise<readonly Finding[]> {
  const { clock, databaseUrl, migrations } = of
  const found = await Promise.all([
    examineDatabase(databaseUrl, { clock, migrations }),
    examineEndpoints(config, { clock, isQuick: false }),
    examinePayments(config),
    examineDirectPayments(config),
    examineTelegram(config),
    examineMail(config, clock),
    examinePublicUrl(config),
  ])
  const bytes = process.constrainedMemory() || totalmem()
  const memory = judgeMemory({
    bytes: Math.min(bytes, totalmem()),
    isEmbedded: config.database.url === undefined,
  })
  return [...found.flat(), memory, ...findOff(config)]
}
