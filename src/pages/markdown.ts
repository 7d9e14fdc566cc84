import { createRequire } from 'node:module'
import type TurndownService from 'turndown'

const requirePackage = createRequire(import.meta.url)
let writer: TurndownService | undefined

/** Loaded by the first page that is asked for as Markdown: with it comes a parser of HTML. */
function createWriter(): TurndownService {
  const Turndown: typeof import('turndown') = requirePackage('turndown')
  return (
    new Turndown({
      headingStyle: 'atx',
      codeBlockStyle: 'fenced',
      bulletListMarker: '-',
    })
      .remove(['script', 'button', 'nav', 'form', 'input', 'label'])
      // What only works on the page: the box for a token, and the console.
      .remove((node) => /\b(?:token|console)\b/.test(node.getAttribute('class') ?? ''))
      .addRule('code', {
        filter: 'pre',
        replacement: (_, node) =>
          `\n\n\`\`\`\n${node.querySelector('code')?.textContent ?? ''}\n\`\`\`\n\n`,
      })
      // Their tables have a name in each row and no heading.
      .addRule('cell', {
        filter: ['th', 'td'],
        replacement: (content) => ` ${content.trim().replaceAll(/\s*\n\s*/g, ' ')} |`,
      })
      .addRule('row', { filter: 'tr', replacement: (content) => `\n|${content}` })
      .addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` })
  )
}

/** Characters that set the direction of a text on a page. */
const DIRECTION_MARKS = /[\u200e\u200f\u2066-\u2069]/g

/**
 * Writes the content of a page as Markdown, for programs.
 *
 * @param html content of a page, without its frame
 * @param publicUrl address of the service, for links that lead to its pages
 */
export function toMarkdown(html: string, publicUrl: string): string {
  const absolute = html.replaceAll(/(\bhref=")(?=\/)/g, `$1${publicUrl}`)
  writer ??= createWriter()
  return `${writer.turndown(absolute).replaceAll(DIRECTION_MARKS, '').trim()}\n`
}
