import { Choice } from '@/components/ui/choice';
import { useSessionId } from '@/features/session-log/session-context';
import { useCanAct } from '@/features/session-controls/use-can-act';
import { AgentBrowser } from './agent-browser';
import { PreviewView } from './preview-view';
import { usePreviewChoice } from './use-preview-choice';

/** Shows the agent’s browser, or a preview of the sandbox’s servers in the user’s browser. */
export function BrowserPanel() {
  const canAct = useCanAct();
  const [{ side }, choose] = usePreviewChoice(useSessionId());
  // A page in the preview can change things in the sandbox, which viewers are not allowed to.
  if (!canAct) return <AgentBrowser />;
  return (
    <div className="flex h-full flex-col">
      <div className="shrink-0 border-b px-2 py-1">
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
