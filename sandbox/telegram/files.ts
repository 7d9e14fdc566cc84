import { type Arguments, textArgument, type UploadedFile } from './arguments.ts'
import { imageSize, sniffType } from './images.ts'
import type { StoredFile } from './model.ts'
import { badRequest } from './refusal.ts'

const PHOTO_BYTES_MAX = 10 * 1024 * 1024
const PHOTO_SIDES_SUM_MAX = 10_000
const PHOTO_RATIO_MAX = 20

/** Sent files, by `file_id`. */
export interface Files {
  add(kind: StoredFile['kind'], upload: UploadedFile): StoredFile
  find(id: string): StoredFile | undefined
}

/** Creates an empty list of files. */
export function createFiles(): Files {
  const files = new Map<string, StoredFile>()
  return {
    add(kind, upload) {
      const { name, bytes } = upload
      const size = kind === 'photo' ? imageSize(bytes) : undefined
      const file = {
        id: `${kind}-${files.size + 1}`,
        kind,
        name,
        mimeType: sniffType(bytes, name),
        bytes,
        width: size?.width,
        height: size?.height,
      }
      files.set(file.id, file)
      return file
    },
    find: (id) => files.get(id),
  }
}

/**
 * The file of a parameter: an upload, `attach://<part>`, or the id of a file sent before.
 *
 * @throws BotApiRefusal 400 when it is missing, cannot be fetched, or is not an acceptable photo
 */
export function readFile(files: Files, args: Arguments, name: 'photo' | 'document'): StoredFile {
  const value = textArgument(args, name)
  const part = value.startsWith('attach://') ? value.slice('attach://'.length) : name
  const upload = args.files.get(part)
  if (upload) {
    if (upload.bytes.byteLength === 0) throw badRequest('file must be non-empty')
    if (name === 'photo') checkPhoto(upload)
    return files.add(name, upload)
  }
  if (value === '' || value.startsWith('attach://')) {
    throw badRequest(`there is no ${name} in the request`)
  }
  if (/^https?:\/\//.test(value)) throw badRequest('failed to get HTTP URL content')
  const known = files.find(value)
  if (!known) throw badRequest('wrong remote file identifier specified: Wrong string length')
  if (known.kind !== name) {
    throw badRequest(`can't use file of type ${known.kind} as ${name}`)
  }
  return known
}

function checkPhoto(upload: UploadedFile): void {
  if (upload.bytes.byteLength > PHOTO_BYTES_MAX) throw badRequest('file is too big')
  const size = imageSize(upload.bytes)
  if (!size || size.width === 0 || size.height === 0) throw badRequest('IMAGE_PROCESS_FAILED')
  const { width, height } = size
  const ratio = Math.max(width / height, height / width)
  if (width + height > PHOTO_SIDES_SUM_MAX || ratio > PHOTO_RATIO_MAX) {
    throw badRequest('PHOTO_INVALID_DIMENSIONS')
  }
}
