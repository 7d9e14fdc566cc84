/** Help texts as paragraphs and lists. */

/** A paragraph, or a list whose entries follow each other in the text. */
export type HelpBlock =
  | { readonly kind: 'text'; readonly line: string }
  | { readonly kind: 'steps' | 'points'; readonly lines: readonly string[] }

const MARKERS = { steps: /^\d+\. /, points: /^• / } as const

/** Splits a help text: lines that begin with a number or a bullet become lists without these. */
export function parseHelpText(text: string): readonly HelpBlock[] {
  const blocks: HelpBlock[] = []
  for (const line of text.split('\n')) {
    const kind = (['steps', 'points'] as const).find((kind) => MARKERS[kind].test(line))
    const last = blocks.at(-1)
    if (kind === undefined) blocks.push({ kind: 'text', line })
    else {
      const entry = line.replace(MARKERS[kind], '')
      if (last?.kind === kind) blocks.splice(-1, 1, { kind, lines: [...last.lines, entry] })
      else blocks.push({ kind, lines: [entry] })
    }
  }
  return blocks
}
