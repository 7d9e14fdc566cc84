/** The former name, in units and scripts that operators have written. */
import './quick-start.js'
