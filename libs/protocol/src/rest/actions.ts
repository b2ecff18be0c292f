import { z } from 'zod';
import {
  actionInstall,
  actionName,
  actionSource,
  foundActions,
  installedAction,
} from '../actions.js';
import { count } from './count.js';
import { bytes, nothing, route } from './route.js';
import { waitSeconds } from './wait-seconds.js';

const params = z.object({ name: actionName });
const secretParams = params.extend({ key: z.string().regex(/^[A-Z_][A-Z0-9_]{0,99}$/) });

/** The path of the JSON Schema of `manifest.json`, for editors. */
export const manifestSchemaPath = '/schemas/action-manifest.json';

/** The actions that agents may be given. Secrets are written and never read. */
export const actionRoutes = {
  list: route({
    method: 'GET',
    path: '/api/actions',
    summary: 'Lists the installed actions',
    response: z.array(installedAction),
    about: 'starting',
  }),
  read: route({
    method: 'GET',
    path: '/api/actions/:name',
    summary: 'Returns an installed action',
    params,
    response: installedAction,
    about: 'starting',
  }),
  /** Nothing is installed, and no code from the repository runs. */
  find: route({
    method: 'POST',
    path: '/api/actions/found',
    summary:
      'Fetches a git repository and returns its actions with the permissions that each asks for',
    body: z.object({
      from: actionSource.shape.from.min(1),
      version: z.string().min(1).max(300).nullable().default(null),
    }),
    nameField: 'from',
    response: foundActions,
    access: 'admin',
  }),
  /** Like `find`, for the folder of examples beside the server’s code. */
  findExamples: route({
    method: 'POST',
    path: '/api/actions/examples',
    summary: 'Returns the example actions that come with Belay, to install them',
    response: foundActions,
    access: 'admin',
  }),
  upload: route({
    method: 'POST',
    path: '/api/actions/uploads',
    summary: 'Uploads a folder with actions as a tar archive of at most 80 MiB',
    query: z.object({ from: actionSource.shape.from.default('') }),
    body: bytes('application/x-tar'),
    response: foundActions,
    access: 'admin',
  }),
  install: route({
    method: 'POST',
    path: '/api/actions/installs',
    summary: 'Installs or updates actions from a source that was fetched',
    body: z.object({
      found: z.string().max(100),
      names: z.array(actionName).max(100).optional().describe('All if omitted.'),
    }),
    response: actionInstall,
    status: 202,
    access: 'admin',
  }),
  progress: route({
    method: 'GET',
    path: '/api/actions/installs/:id',
    summary: 'Returns the progress of an install, with its log',
    query: z.object({
      after: count.default(0).describe('The number of log lines that the caller already has.'),
      wait: waitSeconds(30).describe('Seconds to wait for a change.'),
    }),
    response: actionInstall,
    access: 'admin',
  }),
  cancel: route({
    method: 'DELETE',
    path: '/api/actions/installs/:id',
    summary: 'Stops an install and removes what is incomplete',
    response: nothing,
    access: 'admin',
  }),
  change: route({
    method: 'PATCH',
    path: '/api/actions/:name',
    summary: 'Turns an action on or off for new sessions',
    params,
    body: z.object({ enabled: z.boolean() }),
    response: installedAction,
    access: 'admin',
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/actions/:name',
    summary: 'Removes an action with its image and its secrets',
    params,
    response: nothing,
    access: 'admin',
  }),
  setSecret: route({
    method: 'PUT',
    path: '/api/actions/:name/secrets/:key',
    summary: 'Sets a secret that the action declares; secrets can be written but not read',
    params: secretParams,
    body: z.object({ value: z.string().min(1).max(10_000) }),
    response: installedAction,
    access: 'admin',
  }),
  removeSecret: route({
    method: 'DELETE',
    path: '/api/actions/:name/secrets/:key',
    summary: 'Removes a secret of an action',
    params: secretParams,
    response: nothing,
    access: 'admin',
  }),
  schema: route({
    method: 'GET',
    path: manifestSchemaPath,
    summary: 'Returns the JSON Schema of an action’s manifest.json',
    response: z.record(z.string(), z.unknown()),
    access: 'open',
  }),
};
