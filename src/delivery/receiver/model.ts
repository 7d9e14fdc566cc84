/** Number of deliveries that a test receiver keeps. */
export const RECEIVED_MAX = 20

/** What arrived at a test receiver. */
export interface ReceivedDelivery {
  readonly id: number
  readonly receivedAt: Date
  /** Names and values, in the order in which they are shown. */
  readonly headers: readonly (readonly [string, string])[]
  /** The body as it was sent, over which the signature is. */
  readonly body: string
}

/** A test receiver and what it got, newest first. */
export interface TestReceiver {
  readonly expiresAt: Date
  readonly isOver: boolean
  readonly received: readonly ReceivedDelivery[]
}
