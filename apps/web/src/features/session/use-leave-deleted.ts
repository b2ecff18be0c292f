import { useEffect, useRef } from 'react';
import { useNavigate } from '@tanstack/react-router';
import { useSessionId } from '@/features/session-log/session-context';
import { useTitle } from '@/lib/summaries';
import { toast } from '@/lib/toasts';

/** Goes to the fleet when the session is deleted, here or elsewhere. */
export function useLeaveDeleted(): void {
  const title = useTitle(useSessionId());
  const navigate = useNavigate();
  const known = useRef<string>(undefined);
  useEffect(() => {
    if (title === undefined && known.current !== undefined) {
      toast(`“${known.current}” was deleted.`);
      void navigate({ to: '/' });
    }
    known.current = title;
  }, [title, navigate]);
}
