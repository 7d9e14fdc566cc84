/** The incidents of a backtest. Pure. */
import { isAtLeast, type Severity } from '#src/kernel/display-values.ts'
import type { PastIncident, PastIncidents } from '#src/watches/backtest/backtest.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { type IncidentRef, startIncidents } from './assign.ts'

/** Most alerts and recoveries of an incident that a backtest keeps. */
const PARTS_MAX = 20

interface Growing {
  readonly startedAt: Date
  severity: Severity
  endedAt: Date | null
  parts: AlertCandidate[]
  count: number
}

/** Starts the incidents of one watch, by the rules of those that are recorded. */
export function startPastIncidents(): PastIncidents {
  const { place, isOpen } = startIncidents()
  const incidents = new Map<IncidentRef, Growing>()
  return {
    add(candidate) {
      const { incident } = place({ ...candidate, watchId: candidate.watch.id })
      const known = incidents.get(incident)
      // A recovery that nobody is told of ends its incident, too.
      if (known !== undefined && candidate.isRecovery) known.endedAt = candidate.firedAt
      if (!candidate.isNotified) return
      if (known !== undefined) return grow(known, candidate)
      if (candidate.isRecovery) return
      const { firedAt: startedAt, severity } = candidate
      incidents.set(incident, { startedAt, severity, endedAt: null, parts: [candidate], count: 1 })
    },
    all: () =>
      [...incidents].map(
        ([ref, { endedAt, ...incident }]): PastIncident => ({
          ...incident,
          endedAt: isOpen(ref) ? null : endedAt,
        }),
      ),
  }
}

function grow(incident: Growing, candidate: AlertCandidate): void {
  incident.count += 1
  if (incident.parts.length < PARTS_MAX) incident.parts.push(candidate)
  if (candidate.isRecovery || isAtLeast(incident.severity, candidate.severity)) return
  incident.severity = candidate.severity
}
