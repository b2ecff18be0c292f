import { z } from 'zod';
import {
  draftedMessage,
  gitHost,
  gitHostChange,
  gitHostName,
  preparedPublish,
  publishedChange,
  pullRequestStatus,
  publishRequest,
  publishTarget,
} from '../git.js';
import { nothing, route } from './route.js';

const host = z.object({ host: gitHostName });

/** Git hosts and their settings. Tokens are write-only. */
export const gitRoutes = {
  hosts: route({
    method: 'GET',
    path: '/api/git/hosts',
    summary: 'Lists the git hosts that are set up, and whether each has a token',
    response: z.array(gitHost),
  }),
  setHost: route({
    method: 'PUT',
    path: '/api/git/hosts/:host',
    summary: 'Sets up or changes a git host; omitted fields stay as they are',
    params: host,
    body: gitHostChange,
    response: gitHost,
    access: 'admin',
  }),
  /** One call of its API, so that a wrong token is noticed when it is saved. */
  testHost: route({
    method: 'POST',
    path: '/api/git/hosts/:host/test',
    summary: 'Tests the token of a git host; returns the user it belongs to',
    params: host,
    response: z.object({ user: z.string() }),
    access: 'admin',
  }),
  removeHost: route({
    method: 'DELETE',
    path: '/api/git/hosts/:host',
    summary: 'Removes a git host and its token',
    params: host,
    response: nothing,
    access: 'admin',
  }),
};

/** The server pushes the changes of a session to a git host. */
export const sessionPublishRoutes = {
  draftMessage: route({
    method: 'POST',
    path: '/api/sessions/:id/publish/message',
    summary: 'Drafts a commit message, with the session’s model if possible',
    response: draftedMessage,
  }),
  preparePublish: route({
    method: 'POST',
    path: '/api/sessions/:id/publish/prepare',
    summary: 'Returns what publishing would push, and where; pushes nothing',
    body: publishTarget,
    response: preparedPublish,
    unaudited: true,
  }),
  /** The host is asked at most every few seconds. */
  pullRequest: route({
    method: 'GET',
    path: '/api/sessions/:id/pull-request',
    summary:
      'Returns the pull request of a session as its git host has it now, with its checks; null if there is none',
    response: z.object({ pullRequest: pullRequestStatus.nullable() }),
    access: 'operate',
  }),
  publish: route({
    method: 'POST',
    path: '/api/sessions/:id/publish',
    summary: 'Pushes exactly what was prepared to a branch, and opens a pull request if asked to',
    body: publishRequest,
    nameField: 'branch',
    response: publishedChange,
  }),
};
