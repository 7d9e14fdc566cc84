import { messageStates } from '#src/alerts/messages/message-state.ts'
import { sendPictures as send } from '#src/delivery/pictures/pictures.ts'
import type { Job } from './define.ts'

/** Sends the picture of an outage after the messages about it. */
export const sendPictures: Job = {
  name: 'send-pictures',
  role: 'delivery',
  sends: true,
  wakeOn: 'pictures',
  everyMs: () => 10_000,
  run: (app, signal) =>
    send({ ...app, stateOf: (db, alertIds) => messageStates({ ...app, db }, alertIds) }, signal),
}
