import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./action-containers.spec.js'));
