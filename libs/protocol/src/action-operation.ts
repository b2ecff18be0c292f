import { z } from 'zod';
import { actionName, actionOutput, type ActionPermissions, type SessionAction } from './actions.js';
import { defineOperation, type Operation } from './operation.js';

export const actionOperationName = ({ name }: Pick<SessionAction, 'name'>): string =>
  `action.${name}`;

/** The action that a call’s name refers to; undefined for any other call. */
export function actionNamed(operation: string): string | undefined {
  const name = /^action\.(.+)$/s.exec(operation)?.[1];
  return name === undefined ? undefined : actionName.safeParse(name).data;
}

type Called = Pick<SessionAction, 'name' | 'title' | 'description' | 'permissions' | 'kind'>;

/** An action as an operation. Its input is checked where it runs. */
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

/** An action of which only the name is known: the highest risk is assumed, and only its result shows what it did. */
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
  // The whole input, because any part of it may matter.
  subject: (input) => JSON.stringify(input),
  subjectKind: 'json',
  display: 'action',
  search: 'found',
  changesFiles: false,
  images: (output) => output.images,
});

/** Reading a skill: its files only run as commands in the sandbox. */
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
  // The sandbox gets its files and the model its instructions, so the log records both.
  quiet: () => false,
});

/** The permissions of an action in plain words, such as “reaches api.example.com; reads the workspace”. */
export function permissionWords({ network, secrets, workspace }: ActionPermissions): string {
  const words = [
    network.length > 0 ? `reaches ${network.join(', ')}` : 'has no network',
    ...(workspace === 'read' ? ['reads the workspace'] : []),
    ...(workspace === 'write' ? ['changes the workspace'] : []),
    ...(secrets.length > 0 ? [`has the secrets ${secrets.join(', ')}`] : []),
  ];
  return words.join('; ');
}
