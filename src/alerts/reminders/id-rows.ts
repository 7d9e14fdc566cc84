/** Ids of rows. */
export function idsOfRows(rows: readonly { readonly id: number }[]): readonly number[] {
  return rows.map(({ id }) => id)
}

/** Wraps ids in rows, as `lockIfDue` takes them. */
export function toIdRows(ids: readonly number[]): readonly { readonly id: number }[] {
  return ids.map((id) => ({ id }))
}
