import type { Migration } from 'kysely/migration';
import { sessionsEventsRules } from './0001-sessions-events-rules.js';
import { evaluations } from './0002-evaluations.js';
import { serverSettings } from './0003-settings.js';
import { blobUses } from './0004-blob-uses.js';
import { eventIndexes } from './0005-event-indexes.js';
import { accessTokens } from './0006-access-tokens.js';
import { usersAudit } from './0007-users-audit.js';
import { conversationsRefresh } from './0008-conversations-refresh.js';
import { comparisons } from './0009-comparisons.js';
import { linksTemplates } from './0010-links-templates.js';
import { backgroundResults } from './0011-background-results.js';
import { tokenSandboxes } from './0012-token-sandboxes.js';
import { documents } from './0013-documents.js';
import { sessionTerms } from './0014-session-terms.js';
import { servers } from './0015-servers.js';
import { terminalPieces } from './0016-terminal-pieces.js';
import { coldChanges } from './0017-cold-changes.js';
import { logChain } from './0018-log-chain.js';
import { automations } from './0019-automations.js';
import { sessionOwners } from './0020-session-owners.js';
import { expiringValues } from './0021-expiring-values.js';
import { serverLoads } from './0022-server-loads.js';

/** All steps by name, in order; a step that has been released is never changed. */
export function migrations(kind: 'sqlite' | 'postgres'): Record<string, Migration> {
  return {
    '0001-sessions-events-rules': sessionsEventsRules(kind),
    '0002-evaluations': evaluations,
    '0003-settings': serverSettings,
    '0004-blob-uses': blobUses,
    '0005-event-indexes': eventIndexes(kind),
    '0006-access-tokens': accessTokens,
    '0007-users-audit': usersAudit(kind),
    '0008-conversations-refresh': conversationsRefresh,
    '0009-comparisons': comparisons,
    '0010-links-templates': linksTemplates,
    '0011-background-results': backgroundResults,
    '0012-token-sandboxes': tokenSandboxes,
    '0013-documents': documents,
    '0014-session-terms': sessionTerms,
    '0015-servers': servers,
    '0016-terminal-pieces': terminalPieces(kind),
    '0017-cold-changes': coldChanges(kind),
    '0018-log-chain': logChain(kind),
    '0019-automations': automations,
    '0020-session-owners': sessionOwners,
    '0021-expiring-values': expiringValues(kind),
    '0022-server-loads': serverLoads,
  };
}
