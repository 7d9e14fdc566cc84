/** Example calls of an operation as programs that run when they are pasted. Pure. */

/** A request to show. Its token is in the environment variable `TOKEN`. */
export interface DocumentedCall {
  readonly method: string
  readonly address: string
  readonly isAuthenticated: boolean
  /** JSON body; undefined if there is none. */
  readonly body: unknown
  readonly answer: 'json' | 'text' | 'none'
}

/** One example call in one language. */
export interface CallExample {
  /** Name for addresses and tabs, such as `curl`. */
  readonly id: string
  readonly name: string
  readonly code: string
}

/** The call in every language, in the order of the tabs. */
export function callExamples(call: DocumentedCall): readonly CallExample[] {
  return [
    { id: 'curl', name: 'curl', code: curlOf(call) },
    { id: 'ts', name: 'TypeScript', code: typescriptOf(call) },
    { id: 'py', name: 'Python', code: pythonOf(call) },
    { id: 'go', name: 'Go', code: goOf(call) },
  ]
}

function curlOf({ method, address, isAuthenticated, body }: DocumentedCall): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  return [
    `curl ${/[?&{]/.test(address) ? quoted(address) : address}`,
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...(isAuthenticated ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(body === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d ${quoted(JSON.stringify(body, undefined, 2))}`,
        ]),
  ].join(' \\\n  ')
}

function typescriptOf({ method, address, isAuthenticated, body, answer }: DocumentedCall): string {
  const headers = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shown as code
    ...(isAuthenticated ? ['authorization: `Bearer ${process.env.TOKEN}`'] : []),
    ...(body === undefined ? [] : ["'content-type': 'application/json'"]),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(', ')} },`]),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(json(body))}),`]),
  ]
  const fetched =
    options.length === 0
      ? `fetch('${address}')`
      : `fetch('${address}', {\n${options.join('\n')}\n})`
  const shown = {
    json: 'response.status, await response.json()',
    text: 'response.status, await response.text()',
    none: 'response.status',
  }[answer]
  return `const response = await ${fetched}\nconsole.log(${shown})`
}

function pythonOf({ method, address, isAuthenticated, body, answer }: DocumentedCall): string {
  const headers = [
    ...(isAuthenticated ? [`"Authorization": f"Bearer {os.environ['TOKEN']}"`] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ]
  const modules = [
    ...(body === undefined && answer !== 'json' ? [] : ['json']),
    ...(isAuthenticated ? ['os'] : []),
    'urllib.request',
  ]
  const shown = {
    json: 'print(response.status, json.load(response))',
    text: 'print(response.status, response.read().decode())',
    none: 'print(response.status)',
  }[answer]
  return [
    `import ${modules.join(', ')}`,
    '',
    'request = urllib.request.Request(',
    `    "${address}",`,
    `    method="${method}",`,
    ...(headers.length === 0
      ? []
      : ['    headers={', ...headers.map((header) => `        ${header},`), '    },']),
    ...(body === undefined
      ? []
      : [`    data=json.dumps(${indented(pythonLiteral(body), '    ')}).encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as response:',
    `    ${shown}`,
  ].join('\n')
}

function goOf({ method, address, isAuthenticated, body }: DocumentedCall): string {
  const imports = ['fmt', 'io', 'net/http', ...(isAuthenticated ? ['os'] : [])]
  const sent = body === undefined ? 'nil' : 'body'
  return [
    'package main',
    '',
    'import (',
    ...[...imports, ...(body === undefined ? [] : ['strings'])].map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    ...(body === undefined ? [] : [`\tbody := strings.NewReader(${goText(json(body))})`]),
    `\trequest, err := http.NewRequest("${method}", "${address}", ${sent})`,
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    ...(isAuthenticated
      ? ['\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))']
      : []),
    ...(body === undefined ? [] : ['\trequest.Header.Set("Content-Type", "application/json")']),
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tdefer response.Body.Close()',
    '\tanswer, err := io.ReadAll(response.Body)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tfmt.Println(response.StatusCode, string(answer))',
    '}',
  ].join('\n')
}

function json(value: unknown): string {
  return JSON.stringify(value, undefined, 2)
}

function indented(text: string, by = '  '): string {
  return text.replaceAll('\n', `\n${by}`)
}

/** Go raw string literal; backticks are concatenated, as it cannot contain them. */
function goText(text: string): string {
  return `\`${text.replaceAll('`', '` + "`" + `')}\``
}

/** A JSON value as Python writes it. */
function pythonLiteral(value: unknown, indent = ''): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${indent}    `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const parts = Array.isArray(value)
    ? value.map((item) => pythonLiteral(item, inner))
    : Object.entries(value).map(([key, item]) => `"${key}": ${pythonLiteral(item, inner)}`)
  if (parts.length === 0) return `${open}${close}`
  return `${open}\n${parts.map((part) => `${inner}${part},`).join('\n')}\n${indent}${close}`
}
