import { z } from 'zod';

/** The kinds of values in the Compose Specification that are not plain JSON. */

export const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);

export const commandLine = z.union([z.array(scalar), z.string().transform(wordsOf)]);

/** `KEY: value` or `- KEY=value`; a key without a value would be taken from the host. */
export const variableMap = z.union([
  z.record(z.string(), scalar),
  z.array(z.string().regex(/^[^=]+=/, 'is a variable of the host')).transform((lines) =>
    Object.fromEntries(
      lines.map((line): [string, string] => {
        const at = line.indexOf('=');
        return [line.slice(0, at), line.slice(at + 1)];
      }),
    ),
  ),
]);

const units: Record<string, number> = { us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

/** Such as `1m30s`, in seconds. */
export const duration = z
  .string()
  .regex(/^(\d+(\.\d+)?(us|ms|s|m|h))+$/, 'is not a duration')
  .transform((text) =>
    [...text.matchAll(/([\d.]+)([a-z]+)/g)].reduce(
      (sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? 's'] ?? 1),
      0,
    ),
  );

/** `512M`, `1g` or bytes, as megabytes. */
export const memory = z
  .union([z.number(), z.string().regex(/^\d+(\.\d+)?[bkmg]?b?$/i)])
  .transform((given) => {
    const [, amount, unit = 'b'] = /^([\d.]+)([bkmg]?)/i.exec(String(given)) ?? [];
    const factor = { b: 2 ** -20, k: 2 ** -10, m: 1, g: 2 ** 10 }[unit.toLowerCase() || 'b'] ?? 1;
    return Math.max(6, Math.floor(Number(amount) * factor));
  });

/** The words of a command line, without expansions, as Compose splits it. */
function wordsOf(line: string): string[] {
  const found = line.match(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/g) ?? [];
  return found.map((word) =>
    word.replaceAll(
      /\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/g,
      (_all, escaped?: string, double?: string, single?: string) =>
        escaped ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? single ?? '',
    ),
  );
}
