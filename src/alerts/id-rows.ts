/** Ids of rows. */
export function idsOf(rows: readonly { readonly id: number }[]): readonly number[] {
  return rows.map(({ id }) => id)
}

/** Wraps ids in rows, as `lockDue` takes them. */
export function rowsOf(ids: readonly number[]): readonly { readonly id: number }[] {
  return ids.map((id) => ({ id }))
}
