import { z } from 'zod';
import {
  draftedMessage,
  gitHost,
  gitHostChange,
  gitHostName,
  preparedPublish,
  publishedChange,
  publishRequest,
  publishTarget,
} from '../git.js';
import { nothing, route } from './route.js';

const host = z.object({ host: gitHostName });

/** The git hosts with what the server keeps of them. Tokens are written and never read. */
export const gitRoutes = {
  hosts: route({
    method: 'GET',
    path: '/api/git/hosts',
    summary: 'The git hosts that are set up, and whether each has a token',
    response: z.array(gitHost),
  }),
  setHost: route({
    method: 'PUT',
    path: '/api/git/hosts/:host',
    summary: 'Sets up a git host, or changes it; what is omitted stays',
    params: host,
    body: gitHostChange,
    response: gitHost,
    access: 'admin',
  }),
  /** One call of its API, so that a wrong token is found when it is saved. */
  testHost: route({
    method: 'POST',
    path: '/api/git/hosts/:host/test',
    summary: 'Asks a git host whose token it is',
    params: host,
    response: z.object({ user: z.string() }),
    access: 'admin',
  }),
  removeHost: route({
    method: 'DELETE',
    path: '/api/git/hosts/:host',
    summary: 'Removes a git host with its token',
    params: host,
    response: nothing,
    access: 'admin',
  }),
};

/** The changes of a session, brought to a git host by the server. */
export const sessionPublishRoutes = {
  draftMessage: route({
    method: 'POST',
    path: '/api/sessions/:id/publish/message',
    summary: 'A message for the commit, by the session’s model where it has one',
    response: draftedMessage,
  }),
  preparePublish: route({
    method: 'POST',
    path: '/api/sessions/:id/publish/prepare',
    summary: 'What publishing would push, and where to; nothing is sent',
    body: publishTarget,
    response: preparedPublish,
    unaudited: true,
  }),
  publish: route({
    method: 'POST',
    path: '/api/sessions/:id/publish',
    summary: 'Pushes exactly what was prepared to a branch, and may open a pull request',
    body: publishRequest,
    nameField: 'branch',
    response: publishedChange,
  }),
};
