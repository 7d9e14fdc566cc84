/** Positions of this room that may be later than the clock. */
export { LATER_ROWS } from './position-store.ts'
