import { loadModule, parseSync } from 'libpg-query'

/** Partition key of each partitioned table. */
export const PARTITION_KEYS: ReadonlyMap<string, string> = new Map([
  ['alerts', 'fired_at'],
  ['delivery_log', 'id'],
  ['sent_messages', 'id'],
])

type Tree = Readonly<Record<string, unknown>>

/** What a query can name in FROM: its alias, and the table unless it is derived. */
interface Source {
  readonly alias: string
  readonly table: string | undefined
}

interface Scope {
  readonly sources: Source[]
  readonly outer: Scope | undefined
  readonly ctes: ReadonlySet<string>
}

await loadModule()

/**
 * Finds the partition keys that a statement compares with values of other rows, if it locks, changes or deletes
 * rows: PostgreSQL then chooses partitions while it runs. `any(…)` of an array that a subquery makes, and
 * comparisons of casts, are not among them.
 *
 * @see docs/decisions/0012-joins-by-partition-key.md
 * @throws Error for a text that PostgreSQL's parser refuses
 */
export function findKeyJoins(text: string): readonly string[] {
  const { stmts = [] } = parseSync(text) as { stmts?: readonly { readonly stmt: Tree }[] }
  const found = new Set<string>()
  for (const { stmt } of stmts) if (judgesAgain(stmt)) walk(stmt, undefined, new Set(), found)
  return [...found]
}

/** Whether PostgreSQL may judge a row again because it was changed meanwhile. */
function judgesAgain(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(judgesAgain)
  return Object.entries(treeOf(value)).some(
    ([name, inner]) =>
      /^(UpdateStmt|DeleteStmt|MergeStmt|lockingClause)$/.test(name) || judgesAgain(inner),
  )
}

/** Walks an expression or a query; a query has a scope of its own. */
function walk(
  value: unknown,
  scope: Scope | undefined,
  ctes: ReadonlySet<string>,
  found: Set<string>,
): void {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, scope, ctes, found)
    return
  }
  for (const [name, inner] of Object.entries(treeOf(value))) {
    if (/^(Select|Insert|Update|Delete)Stmt$/.test(name))
      walkQuery(treeOf(inner), scope, ctes, found)
    else {
      if (scope !== undefined) compare(name, treeOf(inner), scope, found)
      walk(inner, scope, ctes, found)
    }
  }
}

function walkQuery(
  body: Tree,
  outer: Scope | undefined,
  known: ReadonlySet<string>,
  found: Set<string>,
): void {
  const names = listOf(treeOf(body['withClause'])['ctes']).map((item) =>
    String(treeOf(item['CommonTableExpr'])['ctename']),
  )
  const ctes = new Set([...known, ...names])
  const scope: Scope = { sources: [], outer, ctes }
  const { larg, rarg, ...rest } = body
  for (const key of ['relation', 'fromClause', 'usingClause']) addSources(body[key], scope)
  for (const side of [larg, rarg])
    if (side !== undefined) walkQuery(treeOf(side), outer, ctes, found)
  walk(rest, scope, ctes, found)
}

function addSources(value: unknown, scope: Scope): void {
  if (Array.isArray(value)) for (const item of value) addSources(item, scope)
  else {
    const tree = treeOf(value)
    const range = tree['RangeVar'] === undefined ? tree : treeOf(tree['RangeVar'])
    const join = treeOf(tree['JoinExpr'])
    if (typeof range['relname'] === 'string') {
      const name = range['relname']
      const isTable = range['schemaname'] !== undefined || !scope.ctes.has(name)
      scope.sources.push({ alias: aliasOf(range) || name, table: isTable ? name : undefined })
    } else if (tree['JoinExpr'] !== undefined) addSources([join['larg'], join['rarg']], scope)
    else
      for (const inner of Object.values(tree)) {
        scope.sources.push({ alias: aliasOf(treeOf(inner)), table: undefined })
      }
  }
}

/** Adds the keys that a node of a condition compares with other rows. */
function compare(name: string, node: Tree, scope: Scope, found: Set<string>): void {
  if (name === 'SubLink' && node['testexpr'] !== undefined) {
    for (const side of elementsOf(node['testexpr'])) add(keyOf(side, scope), found)
  }
  if (name === 'JoinExpr') {
    const columns = listOf(node['usingClause']).map(nameOf)
    for (const { table = '' } of scope.sources) {
      const key = PARTITION_KEYS.get(table)
      if (key !== undefined && columns.includes(key)) add(`${table}.${key}`, found)
    }
  }
  if (name !== 'A_Expr' || node['kind'] === 'AEXPR_LIKE') return
  const isArray = node['kind'] === 'AEXPR_OP_ANY'
  const sides = [elementsOf(node['lexpr']), elementsOf(node['rexpr'])]
  // A comparison of rows with < or > chooses no partitions.
  const isRow = sides.every((side) => side.length > 1)
  if (isRow && listOf(node['name']).map(nameOf).join('') !== '=') return
  for (const [left = [], right = []] of [sides, sides.toReversed()]) {
    for (const [place, side] of left.entries()) {
      const other = isRow ? [right[place] ?? {}] : right
      const isOther = isArray
        ? other.some((item) => item['A_ArrayExpr'] && readsRows(item))
        : readsRows(other)
      if (isOther) add(keyOf(side, scope), found)
    }
  }
}

function add(key: string | undefined, found: Set<string>): void {
  if (key !== undefined) found.add(key)
}

/** `table.column`, if the expression is the partition key of a table. */
function keyOf(expression: Tree, scope: Scope): string | undefined {
  const names = listOf(treeOf(expression['ColumnRef'])['fields']).map(nameOf)
  const column = names.at(-1)
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    const source = at.sources.find(({ alias, table }) =>
      names.length > 1 ? alias === names.at(-2) : PARTITION_KEYS.get(table ?? '') === column,
    )
    if (source === undefined) continue
    const isKey = column !== undefined && PARTITION_KEYS.get(source.table ?? '') === column
    return isKey ? `${source.table}.${column}` : undefined
  }
  return undefined
}

/** Whether a value depends on rows, not on parameters alone. */
function readsRows(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(readsRows)
  return Object.entries(treeOf(value)).some(
    ([name, inner]) => name === 'ColumnRef' || name === 'SubLink' || readsRows(inner),
  )
}

function treeOf(value: unknown): Tree {
  return typeof value === 'object' && value !== null ? (value as Tree) : {}
}

function listOf(value: unknown): readonly Tree[] {
  return Array.isArray(value) ? value : []
}

function nameOf(node: Tree): string {
  return String(treeOf(node['String'])['sval'] ?? '')
}

function aliasOf(node: Tree): string {
  return String(treeOf(node['alias'])['aliasname'] ?? '')
}

/** The elements of a row or list, or the expression itself. */
function elementsOf(expression: unknown): readonly Tree[] {
  const tree = treeOf(expression)
  const row = tree['RowExpr'] ?? tree['List']
  if (row === undefined) return [tree]
  return listOf(treeOf(row)['args'] ?? treeOf(row)['items'])
}
