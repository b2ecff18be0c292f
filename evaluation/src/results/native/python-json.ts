/** A number that Python writes as a float: 1 becomes `1.0`. */
export class Float {
  constructor(readonly value: number) {}
}

export const float = (value: number): Float => new Float(value);

interface Form {
  /** Spaces per level; without it, everything is on one line. */
  indent?: number;
  /** Keeps characters beyond ASCII, as pydantic does; Python's own writer escapes them. */
  unicode?: boolean;
}

/**
 * Objects and maps as JSON, byte for byte as Python's `json.dumps` writes them, or with `unicode`
 * as pydantic's `model_dump_json` does.
 */
export function pythonJson(
  value: unknown,
  { indent, unicode = false }: Form = {},
  level = 0,
): string {
  if (value instanceof Float) return floatText(value.value);
  if (typeof value === 'string') return unicode ? JSON.stringify(value) : ascii(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = (each: unknown) => pythonJson(each, { indent, unicode }, level + 1);
  const parts = Array.isArray(value)
    ? value.map(inner)
    : [...(value instanceof Map ? (value as Map<string, unknown>) : Object.entries(value))]
        .filter(([, each]) => each !== undefined)
        .map(([key, each]) => `${inner(key)}: ${inner(each)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (parts.length === 0) return `${open}${close}`;
  if (indent === undefined) return `${open}${parts.join(', ')}${close}`;
  const line = (depth: number) => `\n${' '.repeat(indent * depth)}`;
  return `${open}${line(level + 1)}${parts.join(`,${line(level + 1)}`)}${line(level)}${close}`;
}

/** JSON lines, as Python's `json.dumps` writes them. */
export const pythonLines = (values: object[]): string =>
  values.map((value) => `${pythonJson(value)}\n`).join('');

const ascii = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Python uses exponents below 0.0001 and from 1e16 on, with at least two digits. */
function floatText(value: number): string {
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-4 || size >= 1e16))
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
