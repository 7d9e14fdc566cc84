export { type SignedIn, type Signer, type SignInOptions, signIn, Watchdog } from './client.ts'
export { type AnyErrorCode, type ClientCode, WatchdogError } from './errors.ts'
export type * from './generated/models.ts'
export type { ErrorCode, EventData, EventName } from './generated/operations.ts'
export type {
  AnswerHead,
  CallOptions,
  KeyedCallOptions,
  VersionedCallOptions,
  WatchdogOptions,
} from './transport.ts'
export {
  type HeaderList,
  type ReadableHeaders,
  verifyWebhook,
  type Webhook,
  WebhookError,
  type WebhookHeaders,
  type WebhookRefusal,
  type WebhookRequest,
} from './webhook.ts'
