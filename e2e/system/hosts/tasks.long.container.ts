import { DockerTasks } from '@belay/containers';
import { describeTasks } from './describe-tasks.js';

describeTasks('the Docker Engine as a host of tasks', async () => ({
  host: new DockerTasks(),
  close: async () => {},
}));
