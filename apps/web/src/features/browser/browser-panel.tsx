import { Choice } from '@/components/ui/choice';
import { useSessionId } from '@/features/session-log/session-context';
import { useCanAct } from '@/features/session-controls/use-can-act';
import { AgentBrowser } from './agent-browser';
import { PreviewView } from './preview-view';
import { usePreviewChoice } from './use-preview-choice';

/** The agent’s browser, and beside it what the sandbox serves, in the user’s own. */
export function BrowserPanel() {
  const canAct = useCanAct();
  const [{ side }, choose] = usePreviewChoice(useSessionId());
  // A preview page can act, which viewers are not allowed to.
  if (!canAct) return <AgentBrowser />;
  return (
    <div className="flex h-full flex-col">
      <div className="shrink-0 border-b px-1 py-0.5">
        <Choice
          label="Show"
          value={side}
          options={[
            { value: 'agent', label: 'Agent’s browser' },
            { value: 'preview', label: 'Preview' },
          ]}
          onChange={(next) => choose({ side: next })}
        />
      </div>
      <div className="min-h-0 flex-1">
        {side === 'preview' ? <PreviewView /> : <AgentBrowser />}
      </div>
    </div>
  );
}
