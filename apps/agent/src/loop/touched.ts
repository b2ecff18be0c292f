import type { Checked } from '../dispatch.js';

/** The paths that a call was about: what it named, and what it says it changed. */
export function pathsOf({ operation, input }: Checked, output: unknown): string[] {
  const room = operation.name.split('.')[0];
  if (room === 'terminal') return texts(output, ['directory']);
  if (room !== 'files') return [];
  const fields = operation.name === 'files.move' ? ['from', 'to'] : ['path'];
  const files = (output as { files?: unknown[] } | null)?.files ?? [];
  return [...texts(input, fields), ...files.flatMap((file) => texts(file, ['path']))];
}

function texts(value: unknown, fields: string[]): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const record = value as Record<string, unknown>;
  return fields.map((field) => record[field]).filter((text) => typeof text === 'string');
}
