import { eventFields, type FieldValues, type Occurrence } from '@belay/protocol';
import type { RunPlace } from './run-places.js';
import type { RunTexts } from './run-text-reader.js';

/** The values of an event’s fields: as the host says now where it was asked, else as the event says. */
export function fieldsOf(
  { actor, event, ...said }: Occurrence,
  place: RunPlace,
  found?: Pick<RunTexts, 'names' | 'verdict'>,
): FieldValues {
  const { branch, base, sha, pull } = place;
  const subject = pull ?? place.issue;
  const { number, label, assignee, command, verdict, tag, session } = said;
  const all = {
    ...known({ user: actor?.name, branch: said.branch, sha: said.sha }),
    ...known({ number, label, assignee, command, verdict, tag, session }),
    ...known({ branch, base, sha, draft: pull?.draft, ...found }),
    ...(subject && ofSubject(subject)),
  };
  const wanted = eventFields[event] ?? {};
  return Object.fromEntries(Object.entries(all).filter(([name]) => Object.hasOwn(wanted, name)));
}

type Subject = NonNullable<RunPlace['issue']>;

const ofSubject = ({ number, title, author, labels }: Subject): FieldValues =>
  known({ number, title, author: author?.name, labels });

type MaybeValues = Readonly<Record<string, FieldValues[string] | undefined>>;

const known = (values: MaybeValues): FieldValues =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, value]],
    ),
  );
