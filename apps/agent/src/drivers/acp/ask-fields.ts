import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationPropertySchema,
  ElicitationSchema,
} from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { UserQuestions } from '../user-questions.js';

const mostFields = 20;

const choice = z.object({ const: z.string(), title: z.string() });
const choices = z.array(choice);

/** The parts of a field’s schema that matter for a question. */
const field = z.object({
  type: z.string(),
  title: z.string().nullish(),
  description: z.string().nullish(),
  enum: z.array(z.string()).nullish(),
  oneOf: choices.nullish(),
  items: z
    .object({ enum: z.array(z.string()).optional(), anyOf: choices.optional() })
    .optional()
    .catch(undefined),
});
type Field = z.infer<typeof field>;
type Content = NonNullable<Extract<CreateElicitationResponse, { content?: unknown }>['content']>;
type Value = string | number | boolean | string[];

/** Asks the user for the fields of a form, one after the other. Forms on other pages are declined. */
export async function askFields(
  request: CreateElicitationRequest,
  questions: UserQuestions,
  signal: AbortSignal,
): Promise<CreateElicitationResponse> {
  if (request.mode !== 'form') return { action: 'decline' };
  const { properties = {} } = (request as { requestedSchema: ElicitationSchema }).requestedSchema;
  const fields = Object.entries(properties).slice(0, mostFields);
  const others = otherAnswers(fields);
  const content: Record<string, Value> = {};
  try {
    for (const [name, schema] of fields) {
      if ([...others.values()].includes(name)) continue;
      const value = await askField(request.message, [name, schema], { questions, signal });
      if (value === undefined) return { action: 'decline' };
      const other = others.get(name);
      const isOther = other !== undefined && !choiceValues(schema).includes(value);
      content[isOther ? other : name] = value;
    }
  } catch (thrown) {
    if (signal.aborted) return { action: 'cancel' };
    throw thrown;
  }
  return { action: 'accept', content: content as Content };
}

/**
 * Free texts that belong to a field with choices, by its name: they take an answer that is none of the choices, and are
 * not asked for. Programs name them after the field.
 */
function otherAnswers(fields: readonly [string, ElicitationPropertySchema][]): Map<string, string> {
  const others = new Map<string, string>();
  for (const [name, schema] of fields) {
    if (schema.type !== 'string' || choiceValues(schema).length === 0) continue;
    const other = fields.find(
      ([one, { type }]) => one.startsWith(`${name}_`) && type === 'string',
    );
    if (other && choiceValues(other[1]).length === 0) others.set(name, other[0]);
  }
  return others;
}

function choiceValues(schema: ElicitationPropertySchema): Value[] {
  const { data } = field.safeParse(schema);
  return data ? offeredIn(data).map((one) => one.const) : [];
}

/** The user’s answer as a value of the field; undefined if it is none. */
async function askField(
  message: string,
  [name, schema]: [string, ElicitationPropertySchema],
  { questions, signal }: { questions: UserQuestions; signal: AbortSignal },
): Promise<Value | undefined> {
  const { data: known } = field.safeParse(schema);
  if (!known) return undefined;
  const title = known.title ?? name;
  const question = [message, known.description ? `${title}: ${known.description}` : title]
    .filter((line, at, all) => line && all.indexOf(line) === at)
    .join('\n\n');
  const offered = offeredIn(known);
  const options = offered.map((one) => one.title);
  const answer = (await questions.ask({ question, options }, signal)).trim();
  return valueOf(known, offered, answer);
}

const titled = (values: readonly string[] | null | undefined) =>
  (values ?? []).map((value) => ({ const: value, title: value }));

function offeredIn({ type, enum: plain, oneOf, items }: Field): z.infer<typeof choices> {
  if (type === 'boolean') return [...titled(['Yes', 'No'])];
  if (type === 'array') return items?.anyOf ?? titled(items?.enum);
  return oneOf ?? titled(plain);
}

function valueOf(
  { type }: Field,
  offered: z.infer<typeof choices>,
  answer: string,
): Value | undefined {
  const chosen = (text: string) => offered.find(({ title }) => title === text)?.const;
  if (type === 'boolean') return /^(yes|y|true|on|ok)$/i.test(answer);
  if (type === 'number' || type === 'integer') {
    const number = Number(answer);
    const fits = answer !== '' && (type === 'number' || Number.isInteger(number));
    return fits && Number.isFinite(number) ? number : undefined;
  }
  if (type === 'array') return answer.split(/\s*,\s*/).flatMap((part) => chosen(part) ?? []);
  return offered.length > 0 ? (chosen(answer) ?? answer) : answer;
}
