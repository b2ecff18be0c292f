import { useEffect, useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import type { ActionInstall } from '@belay/protocol';
import { actionsQuery } from '@/lib/queries';
import { client } from '@/lib/server';
import { attempt, toastError } from '@/lib/toasts';

/** How long one request waits for more of the log, in seconds. */
const wait = 20;

/** Starts an install and follows it to its end. It continues on the server if the page is left. */
export function useInstall() {
  const queries = useQueryClient();
  const [job, setJob] = useState<ActionInstall>();
  const isHere = useRef(true);
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
    };
  }, []);
  const begin = async (found: string, names: string[]) => {
    try {
      let now = await client.actions.install({ found, names });
      setJob(now);
      while (now.state === 'running' && isHere.current) {
        const news = await client.actions.progress(now.id, { after: now.next, wait });
        now = { ...news, lines: [...now.lines, ...news.lines] };
        setJob(now);
      }
    } catch (error) {
      toastError(error);
    }
    await queries.invalidateQueries(actionsQuery);
  };
  const cancel = () => job && attempt(() => client.actions.cancel(job.id));
  return { job, begin, cancel };
}
