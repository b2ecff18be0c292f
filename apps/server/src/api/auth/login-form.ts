import type { IncomingMessage } from 'node:http';
import { AppError, password, userName } from '@belay/protocol';
import { z } from 'zod';
import { readForm } from '../read-form.js';

const maxBytes = 8 * 1024;

/** A path of this server; `/` for anything else. */
export const ownPath = z
  .string()
  .max(4_000)
  .regex(/^\/(?![/\\])/)
  .catch('/');

const form = z.object({
  // Invalid names and passwords are looked up too, and not found.
  name: z
    .string()
    .max(200)
    .transform((name) => userName.safeParse(name).data ?? ''),
  password: z.string().transform((text) => password.safeParse(text).data ?? ''),
  to: ownPath,
});

/** The form that browsers send to `/login`. Throws `invalid_input` or `too_large`. */
export async function readLoginForm(request: IncomingMessage): Promise<z.output<typeof form>> {
  const parsed = form.safeParse(await readForm(request, maxBytes));
  if (parsed.success) return parsed.data;
  throw new AppError(
    'invalid_input',
    'The form cannot be read. Log in again with name and password.',
  );
}
