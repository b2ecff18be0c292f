import type { Asked, PlayedAnswer } from './api-player.js';
import { jsonAnswer, textIn, textsIn, type ApiRoutes } from './api-routes.js';
import type { PlayedHook } from './forge-records.js';
import { giteaError, giteaNotFound, type GiteaContext } from './gitea-answers.js';
import { giteaSeconds } from './gitea-payloads.js';

/** Gitea’s routes of commits, statuses, releases and hooks. */
export function giteaCommitRoutes(context: GiteaContext): ApiRoutes {
  const { state, payloads, commits, page } = context;
  const onCommit =
    (answer: (sha: string, asked: Asked) => PlayedAnswer | undefined) => (asked: Asked) => {
      const sha = state.git.resolve(asked.at('sha'));
      return sha === undefined ? giteaNotFound : answer(sha, asked);
    };
  return {
    ...hookRoutes(context),
    'GET R/commits/:sha/status': onCommit((sha) => jsonAnswer(commits.combined(sha))),
    'GET R/commits/:sha/statuses': onCommit((sha, asked) =>
      page(asked, state.checksAt(sha), commits.status),
    ),
    // Only that which merged the commit.
    'GET R/commits/:sha/pull': onCommit((sha) => {
      const found = state.pulls.find(({ pull }) => pull.merged?.sha === sha);
      return found && jsonAnswer(payloads.pull(found));
    }),
    'GET R/git/commits/:sha': onCommit((sha) => {
      const commit = state.git.commitAt(sha);
      return commit && jsonAnswer(commits.commit(commit));
    }),
    'GET R/branches/:name': ({ at }) => {
      const sha = state.git.resolve(`refs/heads/${at('name')}`);
      const commit = sha && state.git.commitAt(sha);
      return commit
        ? jsonAnswer({ name: at('name'), commit: commits.pushed(commit), protected: false })
        : giteaNotFound;
    },
    'GET R/releases': (asked) => page(asked, state.releases.toReversed(), payloads.release),
    'GET R/releases/:id': ({ at }) => {
      const found = state.releases.find(({ id }) => String(id) === at('id'));
      return found && jsonAnswer(payloads.release(found));
    },
  };
}

/** Hooks are for admins of the repository. A new one sends nothing unless it is made active. */
function hookRoutes(context: GiteaContext): ApiRoutes {
  const { state, sender } = context;
  const onHook = (answer: (hook: PlayedHook, asked: Asked) => PlayedAnswer) => (asked: Asked) => {
    const hook = sender.hooks.find(({ id }) => String(id) === asked.at('id'));
    return context.refused('admin') ?? (hook && answer(hook, asked));
  };
  return {
    'GET R/hooks': (asked) => context.refused('admin') ?? context.page(asked, sender.hooks, shown),
    'POST R/hooks': ({ body }) => {
      const config = (body['config'] ?? {}) as Record<string, unknown>;
      const [url, type] = [textIn(config, 'url'), textIn(config, 'content_type')];
      const refusal = context.refused('admin') ?? badConfig(body, config);
      if (refusal || url === undefined) return refusal;
      const secret = textIn(config, 'secret') ?? null;
      const hook: PlayedHook = {
        id: state.nextId(),
        url,
        secret,
        signingSecret: null,
        events: textsIn(body, 'events') ?? ['push'],
        isActive: body['active'] === true,
        isForm: type === 'form',
        created: state.time(),
      };
      sender.hooks.push(hook);
      return jsonAnswer(shown(hook), 201);
    },
    'GET R/hooks/:id': onHook((hook) => jsonAnswer(shown(hook))),
    'PATCH R/hooks/:id': onHook((hook, { body }) => {
      const config = (body['config'] ?? {}) as Record<string, unknown>;
      hook.url = textIn(config, 'url') ?? hook.url;
      hook.secret = textIn(config, 'secret') ?? hook.secret;
      hook.isForm = (textIn(config, 'content_type') ?? (hook.isForm ? 'form' : 'json')) === 'form';
      // Without a list of events only pushes are left.
      hook.events = textsIn(body, 'events') ?? ['push'];
      if (typeof body['active'] === 'boolean') hook.isActive = body['active'];
      return jsonAnswer(shown(hook));
    }),
    'DELETE R/hooks/:id': onHook((hook) => {
      sender.hooks.splice(sender.hooks.indexOf(hook), 1);
      return { status: 204 };
    }),
  };
}

function badConfig(
  body: Record<string, unknown>,
  config: Record<string, unknown>,
): PlayedAnswer | undefined {
  const type = textIn(body, 'type');
  if (!['gitea', 'forgejo', 'gogs'].includes(type ?? ''))
    return giteaError(422, `Invalid hook type: ${type ?? ''}`);
  for (const name of ['url', 'content_type'])
    if (textIn(config, name) === undefined)
      return giteaError(422, `Missing config option: ${name}`);
  return URL.canParse(textIn(config, 'url') ?? '') ? undefined : giteaError(422, 'Invalid url');
}

const shown = (hook: PlayedHook): object => ({
  id: hook.id,
  type: 'gitea',
  branch_filter: '',
  config: { content_type: hook.isForm ? 'form' : 'json', url: hook.url },
  events: hook.events,
  authorization_header: '',
  active: hook.isActive,
  updated_at: giteaSeconds(hook.created),
  created_at: giteaSeconds(hook.created),
});
