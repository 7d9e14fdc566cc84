import { afterEach, expect, test } from 'vitest'
import { CHAINS, serveChain } from '#src/kernel/chains.ts'
import { apiDocs } from '#src/pages/docs/api.ts'
import { REGISTRY } from '../index.ts'
import { openApiDocument } from './openapi.ts'

afterEach(() => {
  serveChain(14)
})

test.each(
  CHAINS.map(({ id, name, symbol }) => ({ id, name, symbol })),
)('the asset of a balance on $name is its coin or a token, and of a watch also all assets', ({
  id,
  symbol,
}) => {
  serveChain(id)
  const app = { publicUrl: 'https://watchdog.example.org', operations: REGISTRY }
  const document = JSON.parse(JSON.stringify(openApiDocument(app, 'en')))
  const names = symbol === 'FLR' ? ['FLR'] : [symbol, 'FLR']
  const { asset } = document.components.schemas.BalanceChangeData.properties
  expect(asset.anyOf[0].enum).toEqual(names)
  const create = apiDocs(document).operations.find((operation) => operation.id === 'createWatch')
  const row = create?.body.find(({ name }) => name === 'target.asset')
  expect(row?.type).toBe([...['*', ...names].map((name) => `"${name}"`), 'string'].join(' | '))
})
