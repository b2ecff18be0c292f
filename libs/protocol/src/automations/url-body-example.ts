import type { AutomationTrigger } from './automation-definition.js';

/**
 * A JSON object that the URL of an automation takes: with the field that identifies a request, `a.b` for one within
 * another. It may stand between single quotes in a shell; a name that may not is left out.
 */
export function urlBodyExample(on: AutomationTrigger): Record<string, unknown> {
  const key = 'url' in on ? on.key : undefined;
  if (key === undefined || !/^[\w-]+(?:\.[\w-]+)*$/.test(key)) return {};
  const [first = '', ...rest] = key.split('.');
  return { [first]: rest.reduceRight<unknown>((value, name) => ({ [name]: value }), 'request-1') };
}
