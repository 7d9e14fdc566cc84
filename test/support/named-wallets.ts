import { loadModule, parseSync } from 'libpg-query'

/** How the rows of a table belong to wallets. */
export interface WalletRows {
  /** The column that holds the wallet, by table. */
  readonly columns: ReadonlyMap<string, string>
  /** Tables without such a column whose rows belong to a row of another table. */
  readonly parts: ReadonlyMap<string, TablePart>
}

/** The column of a part that refers to `key` of its owner's table. */
export interface TablePart {
  readonly column: string
  readonly owner: string
  readonly key: string
}

type Tree = Readonly<Record<string, unknown>>

/** A table or derived table of a query. A derived table (CTE, subquery, function) has no `table`. */
interface Reference {
  readonly number: number
  readonly alias: string
  readonly table: string | undefined
}

interface Scope {
  readonly references: Reference[]
  readonly outer: Scope | undefined
  readonly ctes: ReadonlySet<string>
}

/** A column of a reference, or any other value. */
type Operand = { readonly reference: Reference; readonly column: string } | 'value'

await loadModule()

/**
 * Finds the tables of wallets that a statement reads or writes without naming the wallet.
 *
 * A table's wallet is named if, on the top level of WHERE or of a join condition, its column equals a value, one
 * of several values, or the column of another table whose wallet is named. An INSERT names it by its column. A
 * part is named by its join with its owner.
 *
 * @throws Error for a text that PostgreSQL's parser refuses
 */
export function findUnnamed(text: string, rows: WalletRows): readonly string[] {
  const { stmts = [] } = parseSync(text) as { stmts?: readonly { readonly stmt: Tree }[] }
  return stmts.flatMap(({ stmt }) => new Statement(rows).unnamed(stmt))
}

/** Number of the group of references whose wallet is named. */
const NAMED = 0

class Statement {
  readonly #rows: WalletRows
  readonly #references: Reference[] = []
  /** Union-find: references with the same wallet have the same root. */
  readonly #parents = [NAMED]

  constructor(rows: WalletRows) {
    this.#rows = rows
  }

  unnamed(statement: Tree): readonly string[] {
    this.#query(statement, undefined, new Set())
    const all = this.#references.filter(({ number }) => this.#root(number) !== NAMED)
    return [...new Set(all.flatMap(({ table }) => table ?? []))]
  }

  #query(statement: Tree, outer: Scope | undefined, known: ReadonlySet<string>): void {
    const [[kind, content] = []] = Object.entries(statement)
    if (kind === 'MergeStmt') throw new Error('MERGE is not understood')
    if (!/^(Select|Insert|Update|Delete)Stmt$/.test(kind ?? '')) return
    const body = content as Tree
    const all = listOf(treeOf(body['withClause'])['ctes']).map((cte) =>
      treeOf(cte['CommonTableExpr']),
    )
    const ctes = new Set([...known, ...all.map((cte) => String(cte['ctename']))])
    for (const cte of all) this.#query(treeOf(cte['ctequery']), outer, ctes)
    for (const side of ['larg', 'rarg']) {
      if (body[side] !== undefined) this.#query({ SelectStmt: body[side] }, outer, ctes)
    }
    const scope: Scope = { references: [], outer, ctes }
    const conditions: Tree[] = []
    for (const source of [...listOf(body['fromClause']), ...listOf(body['usingClause'])]) {
      this.#source(source, scope, conditions)
    }
    if (body['relation'] !== undefined) {
      const target = this.#table(treeOf(body['relation']), scope)
      if (kind === 'InsertStmt') this.#insert(target, listOf(body['cols']))
    }
    if (body['selectStmt'] !== undefined) this.#query(treeOf(body['selectStmt']), outer, ctes)
    if (body['whereClause'] !== undefined) conditions.push(treeOf(body['whereClause']))
    for (const condition of conditions) this.#condition(condition, scope)
    const {
      withClause: _,
      fromClause,
      usingClause,
      selectStmt: __,
      larg: ___,
      rarg: ____,
      ...rest
    } = body
    this.#subqueries(rest, scope)
    this.#subqueries([fromClause, usingClause], scope)
  }

  /** Adds the tables of an item of FROM and its join conditions; returns the tables. */
  #source(source: Tree, scope: Scope, conditions: Tree[]): readonly Reference[] {
    const [[kind, content] = []] = Object.entries(source)
    const body = treeOf(content)
    if (kind === 'RangeVar') return [this.#table(body, scope)]
    if (kind !== 'JoinExpr') {
      // A lateral subquery sees the tables before it.
      if (kind === 'RangeSubselect') this.#query(treeOf(body['subquery']), scope, scope.ctes)
      return [this.#add(aliasOf(body), undefined, scope)]
    }
    const left = this.#source(treeOf(body['larg']), scope, conditions)
    const right = this.#source(treeOf(body['rarg']), scope, conditions)
    for (const column of listOf(body['usingClause']).map(nameOf)) {
      const having = (all: readonly Reference[]) =>
        all.find(({ table }) => this.#matters(table, column)) ??
        all.find(({ table }) => table === undefined)
      const [leftReference, rightReference] = [having(left), having(right)]
      const operand = (reference: Reference | undefined): Operand =>
        reference?.table === undefined ? 'value' : { reference, column }
      if (leftReference !== undefined && rightReference !== undefined)
        this.#equal(operand(leftReference), operand(rightReference))
    }
    if (body['quals'] !== undefined) conditions.push(treeOf(body['quals']))
    return [...left, ...right]
  }

  #table(range: Tree, scope: Scope): Reference {
    const name = String(range['relname'])
    const isDerived = scope.ctes.has(name) && range['schemaname'] === undefined
    return this.#add(aliasOf(range) || name, isDerived ? undefined : name, scope)
  }

  #add(alias: string, table: string | undefined, scope: Scope): Reference {
    const { columns, parts } = this.#rows
    const number = this.#parents.length
    this.#parents.push(number)
    const reference = { number, alias, table }
    scope.references.push(reference)
    if (table !== undefined && (columns.has(table) || parts.has(table)))
      this.#references.push(reference)
    return reference
  }

  #insert(target: Reference, columns: readonly Tree[]): void {
    const column = this.#rows.columns.get(target.table ?? '')
    const names = columns.map((column) => treeOf(column['ResTarget'])['name'])
    if (column !== undefined && names.includes(column)) this.#join(target.number, NAMED)
  }

  #condition(condition: Tree, scope: Scope): void {
    const bool = treeOf(condition['BoolExpr'])
    if (bool['boolop'] === 'AND_EXPR') {
      for (const condition of listOf(bool['args'])) this.#condition(condition, scope)
      return
    }
    const link = treeOf(condition['SubLink'])
    if (link['subLinkType'] === 'ANY_SUBLINK' && listOf(link['operName']).length === 0) {
      for (const element of elementsOf(treeOf(link['testexpr'])))
        this.#equal(this.#operand(element, scope), 'value')
    }
    const { kind, name, lexpr, rexpr } = treeOf(condition['A_Expr'])
    const isEqual = kind === 'AEXPR_NOT_DISTINCT' || listOf(name).map(nameOf).join('') === '='
    if (!isEqual) return
    const left = elementsOf(treeOf(lexpr))
    const right = elementsOf(treeOf(rexpr))
    const isPairs = kind === 'AEXPR_OP' || kind === 'AEXPR_NOT_DISTINCT'
    for (const [index, column] of left.entries()) {
      const other = isPairs ? right[index] : undefined
      this.#equal(
        this.#operand(column, scope),
        other === undefined ? 'value' : this.#operand(other, scope),
      )
    }
  }

  #operand(expression: Tree, scope: Scope): Operand {
    const cast = expression['TypeCast']
    if (cast !== undefined) return this.#operand(treeOf(treeOf(cast)['arg']), scope)
    const names = listOf(treeOf(expression['ColumnRef'])['fields']).map(nameOf)
    const column = names.at(-1)
    if (column === undefined) return 'value'
    for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
      const reference = at.references.find(({ alias, table }) =>
        names.length > 1 ? alias === names.at(-2) : this.#matters(table, column),
      )
      if (reference !== undefined)
        return reference.table === undefined ? 'value' : { reference, column }
    }
    return 'value'
  }

  /** Whether the column decides about wallets: it holds one, or refers to an owner, or is referred to. */
  #matters(table: string | undefined, column: string): boolean {
    const { columns, parts } = this.#rows
    if (table === undefined) return false
    const isKey = [...parts.values()].some(({ owner, key }) => owner === table && key === column)
    return columns.get(table) === column || parts.get(table)?.column === column || isKey
  }

  #equal(operand: Operand, other: Operand): void {
    const { columns, parts } = this.#rows
    const isWallet = (it: Operand) =>
      it !== 'value' && columns.get(it.reference.table ?? '') === it.column
    if (operand === 'value' || other === 'value') {
      for (const it of [operand, other])
        if (it !== 'value' && isWallet(it)) this.#join(it.reference.number, NAMED)
      return
    }
    if (isWallet(operand) && isWallet(other))
      this.#join(operand.reference.number, other.reference.number)
    for (const [part, owner] of [
      [operand, other],
      [other, operand],
    ] as const) {
      const known = parts.get(part.reference.table ?? '')
      const isPart =
        known?.column === part.column &&
        known.owner === owner.reference.table &&
        known.key === owner.column
      if (isPart) this.#join(part.reference.number, owner.reference.number)
    }
  }

  #subqueries(value: unknown, scope: Scope): void {
    if (Array.isArray(value)) for (const element of value) this.#subqueries(element, scope)
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        // Subqueries in FROM were walked with it.
        if (name === 'RangeSubselect') continue
        const { subselect, ...others } = treeOf(inner)
        if (name === 'SubLink') this.#query(treeOf(subselect), scope, scope.ctes)
        this.#subqueries(name === 'SubLink' ? others : inner, scope)
      }
    }
  }

  #root(number: number): number {
    const parent = this.#parents[number] ?? number
    return parent === number ? number : this.#root(parent)
  }

  #join(first: number, second: number): void {
    const [low = 0, high = 0] = [this.#root(first), this.#root(second)].sort((a, b) => a - b)
    this.#parents[high] = low
  }
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

/** The elements of a row, or the expression itself. */
function elementsOf(expression: Tree): readonly Tree[] {
  const row = expression['RowExpr']
  return row === undefined ? [expression] : listOf(treeOf(row)['args'])
}
