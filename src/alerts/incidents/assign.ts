/** Which incident each new alert and recovery is a part of. Pure. */
import { isAtLeast, type Severity } from '#src/kernel/display-values.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { endsEpisode, episodeKeyOf, hasRecovery } from '../rules.ts'
import { causeOf } from './cause.ts'

/** The fields of a firing, or of an open alert, that decide about its incident. */
interface IncidentPart {
  readonly watchId: number
  readonly signal: string | null
  readonly group: string | null
  readonly event: string
  readonly severity: Severity
  readonly data: JsonObject
  readonly position: number
}

export interface FiredPart extends IncidentPart {
  readonly isRecovery: boolean
}

export interface OpenPart extends IncidentPart {
  readonly incidentId: number
}

/** An incident: the number of a stored one, or a new one that has no number yet. */
export type IncidentRef = { readonly id: number } | { readonly id: undefined }

/** The incident of a firing, and whether the firing is its first part. */
export interface IncidentPlace {
  readonly incident: IncidentRef
  readonly isFirst: boolean
}

/** What is known about the alerts of one watch with one cause, while firings are taken in order. */
interface Course {
  incident: IncidentRef | undefined
  /** Open alerts by signal and episode, oldest first. */
  readonly open: Map<string, readonly IncidentPart[]>
  /** Position of the last firing that nothing ends, with its incident. */
  alone: { readonly position: number; readonly incident: IncidentRef } | undefined
}

/**
 * Takes firings in order. An alert joins the incident of its watch and cause while an alert of that is open, else it
 * opens another one. A recovery is a part of the incident of the alert that it ends; the last one ends the incident.
 * Alerts that nothing ends share an incident if they are of one observation.
 *
 * @param open the open alerts of these watches
 */
export function assignIncidents<One extends FiredPart>(
  fired: readonly One[],
  open: readonly OpenPart[],
): ReadonlyMap<One, IncidentPlace> {
  const { place } = startIncidents(open)
  return new Map(fired.map((part) => [part, place(part)]))
}

/** Incidents while their parts fire. */
interface Incidents {
  /** The incident of the next firing. */
  place(part: FiredPart): IncidentPlace
  /** Whether an alert of an incident is open. */
  isOpen(incident: IncidentRef): boolean
}

/** `assignIncidents` for firings that are taken one by one. */
export function startIncidents(open: readonly OpenPart[] = []): Incidents {
  const courses = new Map<string, Course>()
  const courseOf = (part: IncidentPart): Course => {
    const key = `${part.watchId} ${causeOf(part)}`
    const course = courses.get(key) ?? { incident: undefined, open: new Map(), alone: undefined }
    courses.set(key, course)
    return course
  }
  for (const part of open.toSorted((a, b) => a.position - b.position)) {
    const course = courseOf(part)
    addTo(course, part)
    course.incident = { id: part.incidentId }
  }
  return {
    place: (part) => placeOf(part, courseOf(part)),
    isOpen: (incident) => [...courses.values()].some((course) => course.incident === incident),
  }
}

function placeOf(part: FiredPart, course: Course): IncidentPlace {
  if (part.isRecovery) return recoveryIn(part, course)
  if (hasRecovery(part.event)) {
    abandon(part, course)
    const place = join(course.incident)
    course.incident = place.incident
    addTo(course, part)
    return place
  }
  const shared = course.alone?.position === part.position ? course.alone.incident : undefined
  const place = join(course.incident ?? shared)
  course.alone = { position: part.position, incident: place.incident }
  return place
}

function join(known: IncidentRef | undefined): IncidentPlace {
  return { incident: known ?? { id: undefined }, isFirst: known === undefined }
}

function recoveryIn(recovery: FiredPart, course: Course): IncidentPlace {
  const place = join(course.incident)
  for (const [key, alerts] of course.open) {
    const last = alerts.findLast(isBefore(recovery))
    const isEnded =
      last !== undefined && last.signal === recovery.signal && endsEpisode(recovery, last)
    if (isEnded)
      keep(
        course,
        key,
        alerts.filter((alert) => !isBefore(recovery)(alert)),
      )
  }
  return place
}

/** A repeated event that is no worse than before begins another episode: the earlier one was abandoned. */
function abandon(part: FiredPart, course: Course): void {
  const key = episodeIn(part)
  const alerts = course.open.get(key) ?? []
  const before = alerts.filter(isBefore(part))
  if (before.every(({ severity }) => !isAtLeast(severity, part.severity))) return
  const isOver = (alert: IncidentPart) => alert.event === part.event && isBefore(part)(alert)
  keep(
    course,
    key,
    alerts.filter((alert) => !isOver(alert)),
  )
}

/** Whether an alert is earlier than a firing: that of a repeated observation is stored already. */
function isBefore({ position }: IncidentPart): (alert: IncidentPart) => boolean {
  return (alert) => alert.position < position
}

/** Leaves these alerts of an episode open. The last end is the end of the incident. */
function keep(course: Course, key: string, alerts: readonly IncidentPart[]): void {
  if (alerts.length > 0) course.open.set(key, alerts)
  else course.open.delete(key)
  if (course.open.size === 0) course.incident = undefined
}

function addTo(course: Course, part: IncidentPart): void {
  const key = episodeIn(part)
  course.open.set(key, [...(course.open.get(key) ?? []), part])
}

function episodeIn(part: Pick<IncidentPart, 'signal' | 'event' | 'data'>): string {
  return `${part.signal ?? ''} ${episodeKeyOf(part)}`
}
