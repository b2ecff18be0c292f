import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./program-containers.spec.js'));
