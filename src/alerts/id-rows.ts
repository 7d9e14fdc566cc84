/** Ids of rows. */
export function idsOf(rows: readonly { readonly id: number }[]): readonly number[] {
  return rows.map(({ id }) => id)
}

/** Rows of ids, as `lockDue` takes them. */
export function rowsOf(ids: readonly number[]): readonly { readonly id: number }[] {
  return ids.map((id) => ({ id }))
}
