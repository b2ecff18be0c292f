import { z } from 'zod';
import { actionName, actionOutput, type ActionPermissions, type SessionAction } from './actions.js';
import { defineOperation, type Operation } from './operation.js';

export const actionOperationName = ({ name }: Pick<SessionAction, 'name'>): string =>
  `action.${name}`;

/** The action that a call’s name is one of; undefined for any other call. */
export function actionNamed(operation: string): string | undefined {
  const [, name] = /^action\.(.+)$/s.exec(operation) ?? [];
  return actionName.safeParse(name).data;
}

type Called = Pick<SessionAction, 'name' | 'title' | 'description' | 'permissions' | 'kind'>;

/** An action in the form of an operation. Its input is checked where it runs. */
export function actionOperation(action: Called): Operation {
  const { name, title, description, permissions, kind } = action;
  const called = { name: actionOperationName({ name }), title, description };
  if (kind === 'skill') return { ...anySkill, ...called };
  return {
    ...anyAction,
    ...called,
    risk: permissions.network.length > 0 ? 'network' : 'execute',
    changesFiles: permissions.workspace === 'write',
  };
}

/** An action of which the name alone is known: that it may do the worst, and of what it did only its result tells. */
export const unknownAction = (name: string): Operation => ({
  ...anyAction,
  name: actionOperationName({ name }),
  title: name,
});

const anyAction = defineOperation({
  title: '',
  description: '',
  risk: 'network',
  input: z.record(z.string(), z.unknown()),
  output: actionOutput,
  // The whole input, for any part of it may be what matters.
  subject: (input) => JSON.stringify(input),
  subjectKind: 'json',
  display: 'action',
  search: 'found',
  changesFiles: false,
  images: (output) => output.images,
});

/** Reading a skill: what its files do, they do as commands of the sandbox. */
const anySkill = defineOperation({
  title: '',
  description: '',
  risk: 'read',
  audience: ['model', 'user'],
  input: anyAction.input,
  output: actionOutput,
  subject: anyAction.subject,
  subjectKind: 'json',
  display: 'action',
  search: 'found',
  // The sandbox gets its files, and the model its instructions: both are for the log.
  quiet: () => false,
});

/** What an action may do, in plain words, such as “reaches api.example.com; reads the workspace”. */
export function permissionWords({ network, secrets, workspace }: ActionPermissions): string {
  const words = [
    network.length > 0 ? `reaches ${network.join(', ')}` : 'has no network',
    ...(workspace === 'read' ? ['reads the workspace'] : []),
    ...(workspace === 'write' ? ['changes the workspace'] : []),
    ...(secrets.length > 0 ? [`has the secrets ${secrets.join(', ')}`] : []),
  ];
  return words.join('; ');
}
