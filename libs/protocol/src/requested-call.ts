import type { ApprovalRequest } from './approvals.js';
import { operationNamed } from './operations/index.js';

/**
 * Everything that is approved: the subject, each input that it does not show and that differs from the default, and the
 * permissions of an installed action.
 */
export function requestedCall(request: Requested): string {
  const call = inputsOf(request);
  return request.about === undefined ? call : `${call}\n${request.about}`;
}

type Requested = Pick<ApprovalRequest, 'operation' | 'input' | 'subject' | 'about'>;

function inputsOf({ operation, input, subject }: Requested): string {
  const schema = operationNamed(operation)?.input;
  if (!schema || typeof input !== 'object' || input === null) return subject;
  const isDefault = (name: string): boolean => {
    const { [name]: given, ...others } = input as Record<string, unknown>;
    const parsed = schema.safeParse(others);
    const filled = parsed.success ? (parsed.data as Record<string, unknown>)[name] : undefined;
    return JSON.stringify(filled) === JSON.stringify(given);
  };
  const rest = Object.entries(input)
    .map(([name, value]): [string, string] => [name, textOf(value)])
    .filter(([name, text]) => text !== subject && !isDefault(name));
  return [subject, ...rest.map(([name, text]) => `${name}: ${text}`)].join('\n');
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
