import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import decompress from 'woff2-encoder/decompress'
import { CACHE } from './cache.ts'
import { unpacked } from './unpacked.ts'

const NOTO = '@fontsource-variable/noto-sans-'
/** Files of the scripts that DejaVu lacks. Those of Chinese are one for each few hundred letters. */
const FILES: Readonly<Record<string, RegExp>> = {
  bengali: /-bengali-wght-/,
  devanagari: /-devanagari-wght-/,
  sc: /-sc-\d+-wght-/,
}
/** What a page gets that names no font of these. */
const GENERIC = {
  'sans-serif': 'DejaVu Sans',
  serif: 'DejaVu Serif',
  monospace: 'DejaVu Sans Mono',
}

/**
 * The file for `FONTCONFIG_FILE` with which a program has the fonts from npm and none of this machine, which may have
 * others or none.
 */
export async function fontConfiguration(): Promise<string> {
  return join(await unpacked('fonts', unpack), 'fonts.conf')
}

async function unpack(folder: string): Promise<void> {
  for (const [name, wanted] of Object.entries(FILES)) {
    const from = join(folderOf(`${NOTO}${name}/package.json`), 'files')
    for (const file of (await readdir(from)).filter((file) => wanted.test(file))) {
      // Chromium reads no WOFF2 from the system.
      const font = await decompress(await readFile(join(from, file)))
      await writeFile(join(folder, `${parse(file).name}.ttf`), font)
    }
  }
  await cp(folderOf('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'), folder, { recursive: true })
  const aliases = Object.entries(GENERIC).map(
    ([name, family]) =>
      `<alias><family>${name}</family><prefer><family>${family}</family></prefer></alias>`,
  )
  const cache = join(CACHE, 'font-cache').replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  // The path of the fonts is relative to the file, because the folder gets another name.
  await writeFile(
    join(folder, 'fonts.conf'),
    `<?xml version="1.0"?>
<fontconfig>
<dir prefix="relative">.</dir>
<cachedir>${cache}</cachedir>
${aliases.join('\n')}
</fontconfig>
`,
  )
}

function folderOf(file: string): string {
  return dirname(fileURLToPath(import.meta.resolve(file)))
}
