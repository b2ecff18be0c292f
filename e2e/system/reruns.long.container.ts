import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./reruns.container.js'));
