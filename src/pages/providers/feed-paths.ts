/** Files about a provider that programs fetch again and again: the end of their path, and their media type. */
export const PROVIDER_FEEDS = {
  atom: { file: 'incidents.atom', type: 'application/atom+xml' },
  json: { file: 'incidents.json', type: 'application/feed+json' },
  calendar: { file: 'calendar.ics', type: 'text/calendar' },
} as const
