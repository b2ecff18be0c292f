import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./install.attacks.spec.js'));
