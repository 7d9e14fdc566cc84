import { type Arguments, flagArgument, integerArgument, textArgument } from '../arguments.ts'
import type { Backend } from '../backend.ts'
import { badRequest, conflict } from '../refusal.ts'
import { webhookInfoWire } from '../webhook.ts'
import type { BotApiMethod } from './define.ts'

const LIMIT_MAX = 100
const TIMEOUT_SECONDS_MAX = 50
const CONNECTIONS_DEFAULT = 40
const CONNECTIONS_MAX = 100
const SECRET_LENGTH_MAX = 256
const PORTS = ['', '80', '88', '443', '8443']
const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost']

/** Methods about the delivery of updates. */
export const UPDATES: readonly BotApiMethod[] = [
  {
    name: 'getUpdates',
    async run(backend, args, signal) {
      if (backend.webhook.target()) {
        throw conflict(
          "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        )
      }
      allow(backend, args)
      const limit = args.texts.has('limit') ? integerArgument(args, 'limit') : LIMIT_MAX
      return await backend.poller.poll({
        offset: integerArgument(args, 'offset'),
        limit: clamp(limit, 1, LIMIT_MAX),
        timeoutSeconds: clamp(integerArgument(args, 'timeout'), 0, TIMEOUT_SECONDS_MAX),
        signal,
      })
    },
  },
  {
    name: 'setWebhook',
    run(backend, args) {
      const url = textArgument(args, 'url')
      if (url === '') return removeWebhook(backend, args)
      checkUrl(url)
      const secretToken = textArgument(args, 'secret_token')
      if (secretToken.length > SECRET_LENGTH_MAX) throw badRequest('secret token is too long')
      if (!/^[\w-]*$/.test(secretToken)) {
        throw badRequest('secret token contains unallowed characters')
      }
      const wanted = integerArgument(args, 'max_connections') || CONNECTIONS_DEFAULT
      allow(backend, args)
      if (flagArgument(args, 'drop_pending_updates')) backend.updates.clear()
      backend.poller.interrupt(conflict('terminated by setWebhook request'))
      backend.webhook.setTarget({
        url,
        secretToken,
        maxConnections: clamp(wanted, 1, CONNECTIONS_MAX),
      })
      return true
    },
  },
  { name: 'deleteWebhook', run: removeWebhook },
  {
    name: 'getWebhookInfo',
    run: (backend) => webhookInfoWire(backend.webhook, backend.updates),
  },
]

function removeWebhook(backend: Backend, args: Arguments): true {
  if (flagArgument(args, 'drop_pending_updates')) backend.updates.clear()
  backend.webhook.setTarget(undefined)
  return true
}

/** Sets the types of updates, until a call has another list; anything but a list of names is ignored. */
function allow(backend: Backend, args: Arguments): void {
  const source = textArgument(args, 'allowed_updates')
  if (source === '') return
  try {
    const types: unknown = JSON.parse(source)
    if (Array.isArray(types) && types.every((type) => typeof type === 'string')) {
      backend.updates.allow(types)
    }
  } catch {
    return
  }
}

/** https on Telegram's ports; plain http only to this machine, as a server in local mode allows. */
function checkUrl(value: string): void {
  const url = URL.parse(value)
  if (!url) throw badRequest('invalid webhook URL specified')
  if (LOOPBACK.includes(url.hostname)) return
  if (url.protocol !== 'https:') {
    throw badRequest('bad webhook: An HTTPS URL must be provided for webhook')
  }
  if (!PORTS.includes(url.port)) {
    throw badRequest('bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443')
  }
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max)
}
