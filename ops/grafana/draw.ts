import { readFile, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { drawPng } from '#src/pictures/png.ts'

/**
 * Draws a board from the data of a Prometheus, without Grafana: its panels, queries and units, in a style of its own.
 * Without a name it is the board of the service.
 *
 * Usage: `npm run board -- http://127.0.0.1:9090 board.png [minutes] [examples/provider/dashboard.json]`
 */

const Board = z.object({
  panels: z.array(
    z.object({
      type: z.enum(['row', 'stat', 'timeseries']),
      title: z.string(),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
      fieldConfig: z.object({ defaults: z.object({ unit: z.string().optional() }) }).optional(),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
    }),
  ),
})
type Panel = z.output<typeof Board>['panels'][number]

const Answer = z.object({
  data: z.object({
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        values: z.array(z.tuple([z.number(), z.string()])),
      }),
    ),
  }),
})

interface Series {
  readonly name: string
  readonly points: readonly (readonly [seconds: number, value: number])[]
}

const WIDTH = 1280
const COLUMN = WIDTH / 24
const UNIT = 22
const MARGIN = 6
const LEGEND_MAX = 6
const LEGEND_COLUMN = 200
const LEGEND_TEXT_MAX = 28
const STEPS = 120
const COLOURS = ['#3d71d9', '#e0752d', '#56a64b', '#b877d9', '#e02f44', '#0a9bb5', '#8f6b00']

const [base = '', file = '', minutes = '15', board] = process.argv.slice(2)
if (base === '' || file === '') {
  throw new Error('usage: board <Prometheus> <file> [minutes] [board]')
}
const { panels } = Board.parse(
  JSON.parse(await readFile(board ?? new URL('dashboard.json', import.meta.url), 'utf8')),
)
const to = Math.floor(Date.now() / 1000)
const span = { from: to - Number(minutes) * 60, to }
const drawn = await Promise.all(panels.map(async (panel) => draw(panel, await read(panel))))
const height = Math.max(...panels.map(({ gridPos: { y, h } }) => (y + h) * UNIT))
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}"
  viewBox="0 0 ${WIDTH} ${height}" font-family="DejaVu Sans" font-size="11">
  <rect width="100%" height="100%" fill="#f4f5f5"/>${drawn.join('')}</svg>`
await writeFile(file, await drawPng(svg))

async function read({ targets }: Panel): Promise<readonly Series[]> {
  const all = await Promise.all(
    targets.map(async ({ expr, legendFormat }) => {
      const step = (span.to - span.from) / STEPS
      const query = new URLSearchParams({
        // All chains, and all providers.
        ...{
          query: expr.replaceAll(/\$(?:chain|provider)/g, '.*'),
          start: `${span.from}`,
          end: `${span.to}`,
          step: `${step}`,
        },
      })
      const response = await fetch(`${base}/api/v1/query_range?${query}`)
      if (!response.ok) throw new Error(`${expr}: ${await response.text()}`)
      return Answer.parse(await response.json()).data.result.map(
        ({ metric, values }): Series => ({
          name: legendFormat.replaceAll(/{{(\w+)}}/g, (_, label) => metric[label] ?? ''),
          points: values
            .map(([at, value]) => [at, Number(value)] as const)
            .filter(([, value]) => Number.isFinite(value)),
        }),
      )
    }),
  )
  return all.flat().filter(({ points }) => points.length > 0)
}

function draw(panel: Panel, series: readonly Series[]): string {
  const { x, y, w, h } = panel.gridPos
  const place = `translate(${x * COLUMN} ${y * UNIT})`
  if (panel.type === 'row') {
    return `<g transform="${place}">${write(8, 17, panel.title, 'font-weight="bold" font-size="13"')}</g>`
  }
  const [width, height] = [w * COLUMN - MARGIN, h * UNIT - MARGIN]
  const unit = panel.fieldConfig?.defaults.unit ?? 'short'
  const inside = panel.type === 'stat' ? drawStat : drawLines
  const content =
    series.length === 0
      ? write(width / 2, height / 2, 'No data', 'text-anchor="middle" fill="#888"')
      : inside(series, { unit, width, height })
  return `<g transform="${place}"><rect width="${width}" height="${height}" rx="3" fill="#fff" stroke="#ddd"/>
    ${write(8, 16, panel.title, 'font-weight="bold"')}${content}</g>`
}

interface Frame {
  readonly unit: string
  readonly width: number
  readonly height: number
}

function drawStat([first]: readonly Series[], { unit, width, height }: Frame): string {
  const value = first?.points.at(-1)?.[1] ?? 0
  const style = 'text-anchor="middle" font-size="34" fill="#3d71d9"'
  return write(width / 2, height / 2 + 14, format(value, unit), style)
}

function drawLines(series: readonly Series[], { unit, width, height }: Frame): string {
  const shown = series
    .toSorted((a, b) => peak(b) - peak(a))
    .slice(0, Math.max(LEGEND_MAX, COLOURS.length))
  const columns = width < LEGEND_COLUMN * 2 ? 1 : 2
  const lines = Math.ceil(Math.min(shown.length, LEGEND_MAX) / columns)
  const [left, top, right, bottom] = [52, 26, width - 8, height - 22 - lines * 13]
  const values = series.flatMap(({ points }) => points.map(([, value]) => value))
  // A counter of blocks starts where it is, everything else at zero.
  const low = Math.min(...values) > 1000 ? Math.min(...values) : Math.min(0, ...values)
  const high = Math.max(...values) === low ? low + 1 : Math.max(...values)
  const atX = (at: number) => left + ((at - span.from) / (span.to - span.from)) * (right - left)
  const atY = (value: number) => bottom - ((value - low) / (high - low)) * (bottom - top)
  const grid = [0, 0.5, 1].map((part) => {
    const value = low + part * (high - low)
    return `<path d="M${left} ${atY(value)}H${right}" stroke="#e5e5e5"/>
      ${write(left - 4, atY(value) + 4, format(value, unit), 'text-anchor="end" fill="#666" font-size="9"')}`
  })
  const times = [span.from, (span.from + span.to) / 2, span.to].map((at, index) => {
    const anchor = ['start', 'middle', 'end'][index]
    const text = new Date(at * 1000).toISOString().slice(11, 16)
    return write(atX(at), bottom + 12, text, `text-anchor="${anchor}" fill="#666" font-size="9"`)
  })
  const drawn = shown.map(({ name, points }, index) => {
    const colour = COLOURS[index % COLOURS.length]
    const path = points.map(([at, value]) => `${atX(at).toFixed(1)} ${atY(value).toFixed(1)}`)
    const [keyX, keyY] = [
      left + (index % columns) * (width / 2 - 26),
      bottom + 26 + Math.floor(index / columns) * 13,
    ]
    const key =
      index < LEGEND_MAX
        ? `<rect x="${keyX}" y="${keyY - 7}" width="10" height="3" fill="${colour}"/>${write(keyX + 14, keyY, name.slice(0, LEGEND_TEXT_MAX), 'font-size="9" fill="#444"')}`
        : ''
    return `<path d="M${path.join('L')}" fill="none" stroke="${colour}" stroke-width="1.3"/>${key}`
  })
  return [...grid, ...times, ...drawn].join('')
}

function peak({ points }: Series): number {
  return Math.max(...points.map(([, value]) => value))
}

function write(x: number, y: number, text: string, style: string): string {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x}" y="${y}" ${style}>${safe}</text>`
}

function format(value: number, unit: string): string {
  const short = (count: number) =>
    count.toLocaleString('en', { notation: 'compact', maximumSignificantDigits: 3 })
  if (unit === 's')
    return value < 1 && value > 0 ? `${short(value * 1000)} ms` : `${short(value)} s`
  if (unit === 'bytes') return `${short(value / 1e6)} MB`
  if (unit === 'percentunit') return `${short(value * 100)} %`
  if (unit === 'reqps' || unit === 'cps') return `${short(value)}/s`
  return short(value)
}
