/** The first line of a module that imports as much as a small library: some 50 ms. */
export const IMPORTS =
  'import difflib, http.server, multiprocessing, pydoc, sqlite3, tarfile, unittest.mock, xml.dom.minidom, xmlrpc.client\n';
