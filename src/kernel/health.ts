/** One dependency of the service: its name, and its problem, if any. */
export interface HealthCheck {
  readonly name: string
  /** Whether nothing works without it; otherwise the service is only degraded. */
  readonly isVital?: boolean
  problem(): Promise<string | undefined>
}
